"""Words that say nothing of what a sentence is about, by language."""

from typing import Final

ENGLISH: Final = """
a about above after again against all also although am an and any are as at be because been before being below
between both but by can could did do does doing down during each either few for from further had has have
having he her here hers him his how i if in into is it its itself just may me might more most much must my no
nor not of off on once one only or other our out over own per same shall she should so some such than that the
their them then there these they this those through to too under until up upon us very was we were what when
where whether which while who whom whose why will with within without would you your
"""
GERMAN: Final = """
aber alle als also am an auch auf aus bei bis da damit dann das dass dem den denn der des die dies diese
diesem diesen dieser dieses doch du durch ein eine einem einen einer eines er es für gegen hat haben hatte ich
ihr ihre im in ist ja kann kein keine können man mehr mit muss nach nicht noch nur ob oder ohne sein seine
sich sie sind so über um und uns unter vom von vor war waren was wenn werden wie wir wird wurde zu zum zur
zwischen
"""
STOP_WORDS: Final = {"en": frozenset(ENGLISH.split()), "de": frozenset(GERMAN.split())}


def stop_words_of(language: str) -> frozenset[str]:
    """Of a language by its BCP 47 tag; none of one without a list. Where no language is named, it is English."""
    return STOP_WORDS.get((language or "en").split("-")[0].lower(), frozenset())
