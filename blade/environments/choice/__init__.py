"""Questions with lettered options: the letter is read from free text and compared."""
