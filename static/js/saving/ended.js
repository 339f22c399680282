// What this device still has of a task that was taken back: nothing sends it any more, so it is offered as a copy.

import { Save } from "./save.js";
import { own } from "./windows.js";

const part = document.getElementById("kept-here");
const save = new Save({ urls: {}, task: part.dataset.task, user: part.dataset.user, window: own });
save.halt("ended");
await save.ready;
part.hidden = !save.holds;
part.querySelector("button").addEventListener("click", () => save.download());
