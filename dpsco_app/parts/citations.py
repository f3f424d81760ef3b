"""Papers as people cite them: one line, and BibTeX; no Streamlit in here."""

import re
from collections.abc import Iterable

from dpsco_core.base.cards import Paper

JOURNALS = re.compile(r"Journal|Transactions|JMLR|Annals|Biometrika|Statistical Science")


def citation(paper: Paper) -> str:
    """Return a paper's reference as a line of text."""
    if not paper.authors:
        return f"{paper.title}."
    venue = "" if paper.venue in ("", "preprint") else f" {paper.venue}."
    doi = f" doi:{paper.doi}" if paper.doi else ""
    return f"{paper.authors} ({paper.year}). {paper.title}.{venue}{doi}"


def bibtex(papers: Iterable[Paper]) -> str:
    """Return the BibTeX entries of papers, each once; textbook results have none."""
    distinct = {paper.key: paper for paper in papers if paper.authors}
    return "\n\n".join(_entry(paper) for paper in distinct.values())


def _entry(paper: Paper) -> str:
    """Return a paper's BibTeX entry, whose kind follows from the venue."""
    authors = " and ".join(part.strip() for part in paper.authors.split(","))
    authors = re.sub(r"(?: and)? et al\.?$", " and others", authors)
    kind, venue = "inproceedings", ("booktitle", paper.venue)
    if paper.venue in ("", "preprint") or paper.venue.startswith("arXiv"):
        kind, venue = "misc", ("note", paper.venue.replace("preprint", "") or "Preprint")
    elif JOURNALS.search(paper.venue):
        kind, venue = "article", ("journal", paper.venue)
    rows = [("author", authors), ("title", f"{{{paper.title}}}"), venue, ("year", str(paper.year))]
    rows += [("doi", paper.doi)] if paper.doi else []
    body = "".join(f"  {name} = {{{value}}},\n" for name, value in rows)
    return f"@{kind}{{{_key(paper)},\n{body}}}"


def _key(paper: Paper) -> str:
    """Return the key of a paper in BibTeX: first author, year, and the title's first long word."""
    surname = paper.authors.replace(" et al.", "").split(",")[0].split()[-1]
    word = next((w for w in re.findall(r"[A-Za-z]+", paper.title) if len(w) > 3), "")
    return f"{re.sub(r'[^a-z]', '', surname.lower())}{paper.year}{word.lower()}"
