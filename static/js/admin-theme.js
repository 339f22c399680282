// The theme that was chosen in the user menu, before anything is drawn: Django's own page cannot read the cookie.
const chosen = /(?:^|; )theme=(light|dark)(?:;|$)/.exec(document.cookie);
if (chosen) document.documentElement.dataset.theme = chosen[1];
