"""A real browser for the tests of pages: Chromium without a window, kept from the network.

Where there is none the tests are skipped, but not where CI promises one.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"),
)


class Browser:
    """What a test does with a page."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, page: Path | str, hash: str = "") -> None:
        """Opens a file or an address anew."""
        address = page if isinstance(page, str) else page.resolve().as_uri()
        self.driver.get("about:blank")
        self.driver.get(f"{address}{hash}")

    def go(self, hash: str) -> None:
        """Follows an address within the page."""
        self.run("location.hash = arguments[0]", hash)

    def run(self, code: str, *values: Any) -> Any:
        """Runs some script in the page."""
        return self.driver.execute_script(code, *values)

    def all(self, selector: str) -> list[WebElement]:
        """Elements by their selector."""
        found: list[WebElement] = self.driver.find_elements(By.CSS_SELECTOR, selector)
        return found

    def one(self, selector: str) -> WebElement:
        """The element, once it is there and can be seen."""
        found: WebElement = self.wait(lambda: next((o for o in self.all(selector) if o.is_displayed()), None), selector)
        return found

    def text(self, selector: str) -> str:
        """What the page shows at a place."""
        return self.one(selector).text

    def wait(self, check: Any, what: str = "") -> Any:
        """Waits until something holds."""
        return WebDriverWait(self.driver, 30, poll_frequency=0.05).until(lambda _: check(), what)

    def wait_text(self, selector: str, text: str) -> None:
        """Waits until a place shows some text."""
        read = "return document.querySelector(arguments[0])?.textContent ?? ''"
        self.wait(lambda: text in self.run(read, selector), text)

    def names(self) -> list[str]:
        """The rollouts in the list."""
        found = self.run("return [...document.querySelectorAll('.list .name')].map(name => name.textContent)")
        return [str(name) for name in found]

    def size(self, width: int, height: int = 900, *, dark: bool = False) -> None:
        """Sets the window's size and what the system says about light and dark."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.command("Emulation.setDeviceMetricsOverride", size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.command("Emulation.setEmulatedMedia", {"features": [scheme]})

    def command(self, name: str, values: dict[str, Any]) -> None:
        self.driver.execute_cdp_cmd(name, values)

    def complaints(self) -> list[str]:
        """Errors the page or its policy reported since the last call."""
        log = self.driver.get_log("browser")
        said = [str(entry["message"]) for entry in log if entry["level"] == "SEVERE"]
        return [message for message in said if "favicon" not in message]


def find_browser() -> str | None:
    """The installed browser."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    return found or (MAC if Path(MAC).exists() else None)


def start_browser() -> Iterator[Browser]:
    """A browser with a profile of its own; it ends with the tests."""
    binary = find_browser()
    if binary is None:
        if os.environ.get("CI") == "true":
            pytest.fail("no Chromium or Chrome is installed, and CI must have one: apt-get install chromium")
        pytest.skip("no Chromium or Chrome is installed")
    options = Options()
    options.binary_location = binary
    driver = shutil.which("chromedriver")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        service = Service(driver) if driver else Service()
        started = webdriver.Chrome(options=options, service=service)
        try:
            yield Browser(started)
        finally:
            started.quit()
