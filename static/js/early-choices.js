// What somebody chose or typed before htmx listened is told to it as soon as it does.

function isChanged(field) {
  if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
  if (field.type !== "select-one") return field.value !== field.defaultValue;
  const options = [...field.options];
  return field.selectedIndex !== Math.max(0, options.findLastIndex((option) => option.defaultSelected));
}

function tell() {
  for (const listener of document.querySelectorAll("[hx-trigger*=change], [hx-trigger*=input]")) {
    const field = [...listener.querySelectorAll("input, select, textarea")].find(isChanged);
    for (const type of ["input", "change"]) field?.dispatchEvent(new Event(type, { bubbles: true }));
  }
}

document.addEventListener("htmx:load", tell, { once: true });
