// A form that is kept while somebody signs in, in another tab: each sign-in gives the browser a new token.

document.querySelector("form[data-typed]")?.addEventListener("submit", (event) => {
  const token = document.cookie.match(/(?:^|; )(?:__Host-)?csrftoken=([^;]+)/)?.[1];
  const field = /** @type {HTMLFormElement} */ (event.target).elements.namedItem("csrfmiddlewaretoken");
  if (token && field instanceof HTMLInputElement) field.value = token;
});
