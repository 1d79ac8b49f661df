"""The 36 tasks, and what happens in each of their five repeats.

`plays` has one letter per repeat; the letters are explained in `plays.py`. A task's place in `TASKS` is its key.
"""

from typing import NamedTuple

from demo_data.events import Meeting, Move
from demo_data.mails import Inbox, Mail
from demo_data.records import Record


class Task(NamedTuple):
    """One task of the benchmark."""

    difficulty: str
    plays: str
    family: Mail | Inbox | Meeting | Move | Record


STAGES = "stage must be one of lead, qualified, proposal, won, lost"

TASKS: tuple[Task, ...] = (
    # Easy: one or two calls, nothing to trip over.
    Task("easy", "PPPPP", Mail(  # 0
        person="Ines Okafor", team="Finance", address="iokafor@hollisvarga.example", subject="Lyon receipts",
        point="the travel receipts from Lyon are in the shared folder")),
    Task("easy", "PPPP.", Meeting(  # 1
        person="Arne Falk", address="falk@hollisvarga.example", title="Onboarding chat", date="2026-03-05",
        wanted="09:00", free="09:00", busy=(("Stand-up", "09:30", "09:45"),))),
    Task("easy", "PPPPP", Move(  # 2
        title="Print shop visit", event="ev-204", date="2026-03-04", start="11:00", to="2026-03-04T14:00",
        others=(("ev-201", "Lunch with Sol", "12:00"),))),
    Task("easy", "PPPPP", Record(  # 3
        company="Brightwater Dairy", record="r-310", wish="Our contact there is now Lena Fuchs.", field="contact",
        old="Otto Brand", value="Lena Fuchs")),
    Task("easy", "PPPPP", Inbox(  # 4
        topic="the parking permits", mails=(("Sol Ibarra", "Permits 2026"), ("Gate desk", "Your permits")),
        newest="The permits can be collected at the gate from Monday.")),
    Task("easy", "PPPPP", Mail(  # 5
        person="Tomasz Reuter", team="IT", address="t.reuter@hv-support.example", subject="Projector in room 4",
        point="the projector in room 4 flickers again")),
    Task("easy", "PPPPX", Record(  # 6
        company="Nordlicht Print", record="r-122", wish="They confirmed the deal this morning.", field="stage",
        old="proposal", value="won")),
    Task("easy", "PPPPP", Move(  # 7
        title="Fire drill briefing", event="ev-219", date="2026-03-06", start="10:00", to="2026-03-06T16:00",
        others=(("ev-220", "Team lunch", "12:30"),))),
    Task("easy", "PPNPN", Inbox(  # 8
        topic="the coffee machine", mails=(("Mina Ode", "Machine leaks"), ("Caterline", "Technician on Friday")),
        newest="A technician comes on Friday between nine and eleven.")),
    Task("easy", "PPPPP", Meeting(  # 9
        person="Greta Simm", address="gsimm@hollisvarga.example", title="Poster proofs", date="2026-03-04",
        wanted="15:00", free="15:00", busy=(("Budget review", "10:00", "11:00"),))),
    Task("easy", "PSPPP", Mail(  # 10
        person="Bea Lindqvist", team="Legal", address="bea.l@hollisvarga.example", subject="Signed NDA",
        point="the signed NDA from Quellhof arrived this morning")),
    Task("easy", "PPPPP", Record(  # 11
        company="Quellhof Foods", record="r-087", wish="Their phone number changed to 0555 0142.", field="phone",
        old="0555 0190", value="0555 0142")),
    # Medium: a step that is easily skipped, or a value that has to be put in the right form.
    Task("medium", "PSPPS", Mail(  # 12
        person="Daniel Osei", team="Procurement", address="osei.daniel@hv-purchasing.example", subject="Chair order",
        point="the order of twelve chairs can go ahead")),
    Task("medium", "PPSPS", Meeting(  # 13
        person="Yusuf Kaya", address="ykaya@hollisvarga.example", title="Contract questions", date="2026-03-05",
        wanted="10:00", free="11:00", busy=(("Budget review", "10:00", "11:00"), ("Stand-up", "09:30", "09:45")))),
    Task("medium", "PPPPP", Move(  # 14
        title="Supplier call Osaka", event="ev-242", date="2026-03-05", start="08:00", to="2026-03-09T08:30",
        others=(("ev-240", "Supplier call Porto", "09:00"), ("ev-245", "Stand-up", "09:30")))),
    Task("medium", "PSPPS", Record(  # 15
        company="Mirela Textiles", record="r-204", wish="They are past qualification: our offer went out yesterday.",
        field="stage", old="qualified", value="proposal", mistaken="offer sent", rejection=STAGES)),
    Task("medium", "PSPPS", Inbox(  # 16
        topic="the Porto invoice",
        mails=(("Rui Matos", "Invoice 118"), ("Ines Okafor", "Re: Invoice 118"), ("Rui Matos", "Reminder"),
               ("Rui Matos", "Second reminder")),
        newest="Please settle invoice 118 by the twelfth.")),
    Task("medium", "SPPSP", Mail(  # 17
        person="Noor Haddad", team="Facilities", address="facilities-nh@hollisvarga.example", subject="Visitor badges",
        point="two visitor badges are needed on Thursday")),
    Task("medium", "VPPVP", Record(  # 18
        company="Castell Optics", record="r-155", wish="The renewal moves to 30 June 2026.", field="renewal",
        old="2026-03-31", value="2026-06-30")),
    Task("medium", ".PPSP", Meeting(  # 19
        person="Olga Brandt", address="brandt.o@hollisvarga.example", title="Stand layout", date="2026-03-06",
        wanted="13:00", free="13:30", busy=(("Site call", "12:45", "13:30"), ("Review", "15:00", "16:00")))),
    Task("medium", "SSSSS", Move(  # 20
        title="Vendor sync (legal)", event="ev-318", date="2026-03-05", start="14:00", to="2026-03-06T15:00",
        others=(("ev-311", "Vendor sync", "11:00"), ("ev-315", "Interview", "13:00")))),
    Task("medium", "PNPPN", Inbox(  # 21
        topic="the trade fair stand",
        mails=(("Olga Brandt", "Stand layout"), ("Fairground", "Power supply"), ("Olga Brandt", "Layout v2"),
               ("Fairground", "Set-up times"), ("Greta Simm", "Poster sizes")),
        newest="The posters are A1, two per wall.")),
    Task("medium", "PPPPQ", Mail(  # 22
        person="Ruth Abellán", team="Training", address="rabellan@hv-academy.example", subject="First-aid course",
        point="five people want to join the first-aid course")),
    Task("medium", "PPXPF", Record(  # 23
        company="Tidewell Marine", record="r-261", wish="They bought 40 more seats on top of their 120.", field="seats",
        old="120", value="160")),
    # Hard: lookalikes, long results, or a rule that only the tool's answer tells.
    Task("hard", "SSSSS", Inbox(  # 24
        topic="the office move",
        mails=(("Noor Haddad", "Dates"), ("Packwell", "Offer"), ("Noor Haddad", "Boxes"), ("Arne Falk", "Desks"),
               ("Packwell", "Revised offer")),
        newest="The revised offer is valid until the end of March.")),
    Task("hard", "SSPSS", Mail(  # 25
        person="Jun Park", team="Design", address="jun@hv-studio.example", subject="Logo files",
        point="the printer needs the logo as a vector file", namesakes=(("Sales", "jpark@hollisvarga.example"),))),
    Task("hard", "LLSLL", Meeting(  # 26
        person="Halima Said", address="hsaid@hollisvarga.example", title="Audit preparation", date="2026-03-06",
        wanted="09:00", free="11:30", busy=(("Board call", "09:00", "10:30"), ("Review", "10:30", "11:30")))),
    Task("hard", "SSSSS", Record(  # 27
        company="Ferrand Glass", record="r-019", wish="The annual amount is now 12,400 euros.", field="amount",
        old="11800", value="12400", mistaken="12,400")),
    Task("hard", "TTPMP", Move(  # 28
        title="Quarterly review EMEA", event="ev-407", date="2026-03-10", start="09:00", to="2026-03-12T09:00",
        others=(("ev-405", "Quarterly review APAC", "07:30"), ("ev-409", "Quarterly review AMER", "16:00")))),
    Task("hard", "TPTTP", Inbox(  # 29
        topic="the data protection audit",
        mails=(("Bea Lindqvist", "Audit in April"), ("Castell Optics", "Questionnaire"), ("Bea Lindqvist", "Drafts"),
               ("Tomasz Reuter", "Log retention"), ("Bea Lindqvist", "Drafts, again"), ("Auditor", "Agenda"),
               ("Auditor", "Room needed")),
        newest="We need a room for four people on 14 April.")),
    Task("hard", "SPKPS", Meeting(  # 30
        person="Ivo Petrov", address="ivo.p@hollisvarga.example", title="Pricing workshop", date="2026-03-09",
        wanted="14:00", free="15:30", busy=(("Hiring panel", "13:30", "15:00"), ("Release call", "15:00", "15:30")))),
    Task("hard", "SSSSS", Record(  # 31
        company="Oakhaven Clinics", record="r-333", wish="Their contract now renews at the end of the second quarter.",
        field="renewal", old="2026-03-31", value="2026-06-30", mistaken="end of Q2 2026",
        rejection="renewal must be a date, YYYY-MM-DD")),
    Task("hard", "RRRRR", Mail(  # 32
        person="Petra Vogel", team="People", address="pvogel@hv-people.example", subject="Pay review letter",
        point="the pay review letter for Tom Keller is ready to sign")),
    Task("hard", "LPMOP", Move(  # 33
        title="Warehouse tour, group B", event="ev-512", date="2026-03-11", start="10:00", to="2026-03-13T10:00",
        others=(("ev-511", "Warehouse tour, group A", "09:00"), ("ev-513", "Warehouse tour, group C", "11:00")))),
    Task("hard", "ZNPSP", Meeting(  # 34
        person="Lucia Ferro", address="lferro@hv-events.example", title="Venue shortlist", date="2026-03-10",
        wanted="11:00", free="12:00", busy=(("Supplier day", "10:00", "12:00"), ("Lunch talk", "12:30", "13:30")))),
    Task("hard", "PPP.P", Inbox(  # 35
        topic="the heating in the annex",
        mails=(("Mina Ode", "Cold again"), ("Noor Haddad", "Re: Cold again"), ("Thermex", "Visit report"),
               ("Mina Ode", "Still cold"), ("Thermex", "Valve ordered"), ("Thermex", "Valve fitted")),
        newest="The new valve was fitted this morning.")),
)  # fmt: skip
