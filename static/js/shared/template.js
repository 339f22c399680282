/**
 * Copy the one element of a page's `<template>`.
 *
 * The caller's words in the page say which element it is, so its kind is not checked here.
 * @returns {any}
 */
export function copyOf(id) {
  const template = /** @type {HTMLTemplateElement} */ (document.getElementById(id));
  return template.content.firstElementChild.cloneNode(true);
}
