// The entry of a page of its own (save_html): the rows stand in the page as JSON.

import { standAlone } from "./page.js";
import { Store } from "./record.js";
import { mountTraffic } from "./traffic_view.js";

const message = JSON.parse(document.getElementById("record").textContent);
globalThis.mcpLessons = standAlone(document.getElementById("view"), () => new Store(), mountTraffic, message);
