// The entry of TrafficView in a notebook.

import { recordWidget } from "./page.js";
import { Store } from "./record.js";
import { mountTraffic } from "./traffic_view.js";

export default recordWidget(() => new Store(), mountTraffic);
