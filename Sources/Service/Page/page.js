// The operator's page: jobs, one job, and what happens. Names of strangers become text only, never HTML.

const $ = (id) => document.getElementById(id);
const ended = ["finished", "failed", "cancelled"];
let session = null;
let streams = [];
let jobs = new Map();
let live = {};
let olderAfter = null;
let shownJob = null;
let refreshing = null;
// Grows with each view that is opened: an answer that comes late opens no stream beside those of the next view.
let visit = 0;

// The service.

class Problem extends Error {
  constructor(status, text) { super(text); this.status = status; }
}

async function call(method, path, body) {
  const response = await fetch(path, {
    method, cache: "no-store", credentials: "same-origin",
    headers: body === undefined ? {} : { "Content-Type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  let value = null;
  try { value = text ? JSON.parse(text) : null; } catch { /* not JSON */ }
  if (response.status === 401 && path !== "/v1/session") { showLogin(); }
  if (!response.ok) {
    const faults = (value?.errors ?? []).map((fault) => `${fault.pointer ?? fault.parameter ?? ""} ${fault.detail}`.trim());
    throw new Problem(response.status, faults.length ? faults.join(" ") : value?.detail ?? `The service answered with ${response.status}.`);
  }
  return value;
}

function follow(path, types, receive) {
  const source = new EventSource(path);
  source.onopen = () => setConnection("live");
  source.onerror = () => {
    setConnection("connecting");
    // A stream that was refused does not try again by itself.
    if (source.readyState === EventSource.CLOSED) { setTimeout(() => { if (streams.includes(source)) { route(); } }, 5000); }
  };
  for (const type of types) { source.addEventListener(type, (event) => receive(JSON.parse(event.data))); }
  streams.push(source);
}

function stopStreams() {
  for (const source of streams) { source.close(); }
  streams = [];
}

const eventTypes = [
  "job.started", "job.stalled", "job.restarted", "participant.joined", "participant.left", "recording.paused",
  "recording.resumed", "recording.file", "recording.conflict", "recording.finished", "recording.amended", "recording.deleted",
  "job.finished", "job.failed", "job.cancelled",
];

function setConnection(state) {
  $("connection").dataset.state = state;
  $("connection").textContent = state;
}

// Texts.

const rate = (bits) => bits >= 999500 ? `${(bits / 1e6).toFixed(1)} Mb/s` : bits >= 1000 ? `${Math.round(bits / 1000)} kb/s` : `${Math.round(bits)} b/s`;
const size = (bytes) => bytes >= 1e9 ? `${(bytes / 1e9).toFixed(2)} GB` : bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : bytes >= 1000 ? `${Math.round(bytes / 1000)} kB` : `${bytes} B`;
const percent = (part) => `${(part * 100).toFixed(part < .1 ? 2 : 1)} %`;

function span(milliseconds) {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  const two = (number) => String(number).padStart(2, "0");
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

function clock(text) {
  const time = new Date(text);
  const isToday = time.toDateString() === new Date().toDateString();
  return isToday ? time.toLocaleTimeString() : time.toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
}

const duration = (job) => job.startedAt ? span(new Date(job.endedAt ?? Date.now()) - new Date(job.startedAt)) : "–";
const isPaused = (job) => job.paused.all || job.paused.users.length > 0;
const loss = (counts) => counts.packets + counts.lost > 0 ? percent(counts.lost / (counts.packets + counts.lost)) : "–";
const sum = (users, value) => users.reduce((total, user) => total + value(user), 0);

function setState(element, state) {
  element.textContent = state;
  element.dataset.state = state;
  element.classList.add("state");
}

function report(id, error) {
  $(id).textContent = error ? error.message : "";
  $(id).hidden = !error;
}

let toastTimer;
function toast(text) {
  $("toast").textContent = text;
  $("toast").classList.add("shown");
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => $("toast").classList.remove("shown"), 4000);
}

// Views.

// When what a view needs is asked for again, in milliseconds.
const retryAfter = 5000;

function show(view) {
  for (const id of ["login", "list", "job", "webhooks"]) { $(id).hidden = id !== view; }
  $("top").hidden = view === "login";
}

function showLogin() {
  session = null;
  stopStreams();
  show("login");
  $("token").focus();
}

async function route() {
  visit += 1;
  const mine = visit;
  stopStreams();
  if (!session) { return showLogin(); }
  try {
    await openView();
  } catch (error) {
    // The service begins or ends, or its database is away.
    if (visit !== mine || !session) { return; }
    setConnection("connecting");
    setTimeout(() => { if (visit === mine && session) { route(); } }, retryAfter);
  }
}

async function openView() {
  const match = /^#job\/([0-9a-z]+)$/.exec(location.hash);
  const webhooks = /^#webhooks(?:\/([0-9a-z]+))?$/.exec(location.hash);
  if (match) { await openJob(match[1]); } else if (webhooks) { await openWebhooks(webhooks[1]); } else { await openList(); }
}

async function begin() {
  try {
    session = await call("GET", "/v1/session");
  } catch (error) {
    showLogin();
    // Somebody may have given a token meanwhile.
    if (error.status !== 401) {
      report("login-problem", error);
      setTimeout(() => { if (!session) { begin(); } }, retryAfter);
    }
    return;
  }
  report("login-problem", null);
  $("who").textContent = `${session.name} · ${session.role} · ${session.project}`;
  $("new-job").hidden = session.role === "viewer";
  $("new-server").replaceChildren(...session.servers.map((name) => new Option(name, name)));
  await route();
}

// The list.

async function openList() {
  const mine = visit;
  document.title = "Jobs";
  shownJob = null;
  show("list");
  live = {};
  await refreshList();
  showDead().catch(() => {});
  if (visit !== mine) { return; }
  follow("/v1/events?after=now", eventTypes, () => refreshSoon(refreshList));
  follow("/v1/live", ["live"], (value) => { live = value.jobs; drawFigures(); });
  // They are asked for again soon.
  await refreshNodes().catch(() => {});
}

// The nodes.

async function refreshNodes() {
  const { nodes } = await call("GET", "/v1/nodes");
  // Nodes that have ended and were not heard of for a day are of no interest.
  const shown = nodes.filter((node) => node.state !== "gone" || Date.now() - new Date(node.seenAt) < 86_400_000);
  $("nodes-section").hidden = shown.length === 0;
  $("nodes").tBodies[0].replaceChildren(...shown.map(nodeRow));
}

function nodeRow(node) {
  const row = $("node-row").content.firstElementChild.cloneNode(true);
  const cells = row.cells;
  const used = (resource) => {
    const figure = node.capacity[resource];
    return figure && figure.limit > 0 ? `${Math.round(figure.used / figure.limit * 100)} %` : "–";
  };
  setState(cells[0].firstElementChild, node.state);
  const colours = { ready: "running", draining: "starting", stopping: "starting", gone: "failed" };
  cells[0].firstElementChild.dataset.state = colours[node.state] ?? "";
  const texts = [node.name, node.jobs, used("processors"), used("memory"), used("udpPorts"), node.version, clock(node.seenAt)];
  texts.forEach((text, index) => { cells[index + 1].textContent = text; });
  const button = cells[8].firstElementChild;
  button.hidden = session.role !== "admin";
  button.textContent = node.draining ? "Take jobs again" : "Drain";
  button.setAttribute("aria-label", `${button.textContent}: ${node.name}`);
  button.onclick = () => drain(node);
  return row;
}

async function drain(node) {
  if (!node.draining && !confirm(`Drain ${node.name}? It takes no more jobs, and other nodes take over those that it has.`)) { return; }
  report("nodes-problem", null);
  try {
    await call("POST", `/v1/nodes/${encodeURIComponent(node.name)}/${node.draining ? "undrain" : "drain"}`);
    await refreshNodes();
  } catch (error) {
    report("nodes-problem", error);
  }
}

function refreshSoon(work) {
  refreshing ??= setTimeout(() => { refreshing = null; work().catch(() => {}); }, 150);
}

function query(after) {
  const query = new URLSearchParams({ limit: "50" });
  if ($("filter-state").value) { query.set("state", $("filter-state").value); }
  if ($("filter-kind").value) { query.set("kind", $("filter-kind").value); }
  if ($("filter-room").value) { query.set("room", $("filter-room").value); }
  if (after) { query.set("after", after); }
  return `/v1/jobs?${query}`;
}

async function refreshList() {
  const page = await call("GET", query());
  jobs = new Map(page.jobs.map((job) => [job.id, job]));
  olderAfter = page.after;
  drawList();
}

async function showOlder() {
  const page = await call("GET", query(olderAfter));
  for (const job of page.jobs) { jobs.set(job.id, job); }
  olderAfter = page.after;
  drawList();
}

function drawList() {
  const body = $("jobs").tBodies[0];
  const rows = new Map([...body.rows].map((row) => [row.dataset.job, row]));
  const next = [...jobs.values()].map((job) => {
    const row = rows.get(job.id) ?? $("job-row").content.firstElementChild.cloneNode(true);
    row.dataset.job = job.id;
    const cells = row.cells;
    const link = cells[0].querySelector("a");
    link.href = `#job/${job.id}`;
    setState(link, job.state);
    cells[0].querySelector(".paused").hidden = !isPaused(job) || ended.includes(job.state);
    cells[0].querySelector(".failed").hidden = !job.stalled;
    cells[1].firstElementChild.textContent = job.room ?? "default room";
    cells[2].textContent = job.kind;
    cells[3].textContent = clock(job.createdAt);
    return row;
  });
  body.replaceChildren(...next);
  $("jobs").hidden = next.length === 0;
  $("no-jobs").hidden = next.length > 0;
  $("more").hidden = !olderAfter;
  drawFigures();
}

function drawFigures() {
  for (const row of $("jobs").tBodies[0].rows) {
    const job = jobs.get(row.dataset.job);
    const status = live[row.dataset.job];
    if (!job) { continue; }
    row.cells[4].textContent = duration(job);
    row.cells[5].textContent = status ? status.userCount : "–";
    row.cells[6].textContent = status ? rate(sum(status.users, (user) => user.bitrate)) : "–";
    row.cells[7].textContent = status ? loss(status.totals) : "–";
  }
}

// Webhooks.

let webhooksJob = null;
let deliveriesAfter = null;
let showsOlderWebhooks = false;

async function showDead() {
  const page = await call("GET", "/v1/deliveries?state=dead&limit=1");
  $("dead-webhooks").hidden = page.deliveries.length === 0;
}

async function openWebhooks(job) {
  const mine = visit;
  document.title = "Webhooks";
  shownJob = null;
  webhooksJob = job ?? null;
  show("webhooks");
  $("webhook-job").hidden = !job;
  const link = $("webhook-job").querySelector("a");
  link.href = `#job/${job}`;
  link.textContent = job ?? "";
  // Of one job, all are of interest.
  $("webhook-state").value = job ? "" : "dead";
  report("webhook-problem", null);
  await refreshWebhooks();
  if (visit !== mine) { return; }
  // Older ones would vanish while somebody reads them.
  follow("/v1/events?after=now", eventTypes, () => { if (!showsOlderWebhooks) { refreshSoon(refreshWebhooks); } });
}

function webhookQuery(after) {
  const query = new URLSearchParams({ limit: "50" });
  if ($("webhook-state").value) { query.set("state", $("webhook-state").value); }
  if (webhooksJob) { query.set("job", webhooksJob); }
  if (after) { query.set("after", after); }
  return `/v1/deliveries?${query}`;
}

async function refreshWebhooks() {
  const page = await call("GET", webhookQuery());
  deliveriesAfter = page.after;
  showsOlderWebhooks = false;
  drawDeliveries(page.deliveries, true);
}

async function showOlderWebhooks() {
  const page = await call("GET", webhookQuery(deliveriesAfter));
  deliveriesAfter = page.after;
  showsOlderWebhooks = true;
  drawDeliveries(page.deliveries, false);
}

const deliveryStates = { dead: "given up", pending: "waiting", disabled: "not wanted", delivered: "delivered" };
const stateColors = { dead: "failed", pending: "queued", delivered: "running", disabled: "" };

function drawDeliveries(deliveries, isFirst) {
  const rows = deliveries.map((delivery) => {
    const row = $("delivery-row").content.firstElementChild.cloneNode(true);
    const cells = row.cells;
    const state = cells[0].firstElementChild;
    setState(state, stateColors[delivery.state] ?? "");
    state.textContent = deliveryStates[delivery.state] ?? delivery.state;
    cells[1].textContent = `${delivery.type} (${delivery.sequence})`;
    const link = cells[2].firstElementChild;
    link.href = `#job/${delivery.job}`;
    link.textContent = delivery.job;
    cells[3].querySelector(".url").textContent = delivery.url;
    cells[3].querySelector(".error").textContent = delivery.error ?? "";
    cells[4].textContent = delivery.triedAt ? clock(delivery.triedAt) : "–";
    cells[5].textContent = delivery.tries;
    const button = cells[6].firstElementChild;
    button.hidden = session.role === "viewer" || delivery.state === "pending";
    button.onclick = () => replay(delivery);
    return row;
  });
  const body = $("deliveries").tBodies[0];
  if (isFirst) { body.replaceChildren(...rows); } else { body.append(...rows); }
  $("deliveries").hidden = body.rows.length === 0;
  $("no-deliveries").hidden = body.rows.length > 0;
  $("more-deliveries").hidden = !deliveriesAfter;
}

async function replay(delivery) {
  report("webhook-problem", null);
  try {
    await call("POST", `/v1/deliveries/${delivery.id}/replay`, {});
    toast("The event is sent again.");
    await refreshWebhooks();
  } catch (error) {
    report("webhook-problem", error);
  }
}

// One job.

async function openJob(id) {
  const mine = visit;
  show("job");
  shownJob = null;
  $("events").replaceChildren();
  $("users").replaceChildren();
  $("player").replaceChildren();
  $("player").hidden = true;
  report("job-problem", null);
  try {
    await refreshJob(id);
  } catch (error) {
    if (error.status !== 404) { throw error; }
    if (visit === mine) { location.hash = ""; toast(error.message); }
    return;
  }
  if (visit !== mine) { return; }
  follow(`/v1/jobs/${id}/events`, eventTypes, (event) => {
    addEvent(event);
    refreshSoon(() => refreshJob(id));
  });
  if (!ended.includes(shownJob.state)) { follow(`/v1/jobs/${id}/live`, ["live"], drawUsers); }
}

async function refreshJob(id) {
  const [job, files] = await Promise.all([call("GET", `/v1/jobs/${id}`), call("GET", `/v1/jobs/${id}/files`)]);
  shownJob = job;
  drawJob(job);
  drawFiles(files.files);
  $("more-files").hidden = files.after === null;
}

function fact(name, value) {
  if (value === null || value === undefined || value === "") { return []; }
  const group = document.createElement("div");
  const [term, text] = [document.createElement("dt"), document.createElement("dd")];
  term.textContent = name;
  text.textContent = value;
  text.dir = "auto";
  group.append(term, text);
  return [group];
}

function drawJob(job) {
  const name = job.room === null ? "Default room" : `Room ${job.room}`;
  document.title = `${name} · Jobs`;
  $("job-title").textContent = name;
  setState($("job-state"), job.state);
  const isEnded = ended.includes(job.state);
  $("job-paused").hidden = !isPaused(job) || isEnded;
  $("job-stalled").hidden = !job.stalled;
  $("job-sentence").textContent = job.sentence ?? "";
  $("facts").replaceChildren(
    ...fact("Kind", job.kind), ...fact("Server", job.server), ...fact("Id", job.id), ...fact("Submitted", clock(job.createdAt)),
    ...fact("Begins", job.startAt && clock(job.startAt)), ...fact("Duration", duration(job)), ...fact("Attempt", job.attempt || null),
    ...fact("Reason", job.reason), ...fact("Unique key", job.uniqueKey),
    ...Object.entries(job.labels).flatMap(([label, value]) => fact(label, value)));
  const mayChange = session.role !== "viewer" && !isEnded;
  $("pause").hidden = !mayChange || job.kind !== "record" || job.paused.all;
  $("resume").hidden = !mayChange || job.kind !== "record" || !isPaused(job);
  $("stop").hidden = !mayChange;
  $("stop").disabled = job.state === "stopping" || job.state === "storing";
  $("delete").hidden = session.role !== "admin" || !isEnded || job.deleted || !job.recordingFinishedAt;
  $("users-section").hidden = isEnded;
  $("job-webhooks").hidden = job.webhooks.length === 0;
  $("job-webhooks").firstElementChild.href = `#webhooks/${job.id}`;
  $("manifest").hidden = !job.recordingFinishedAt || job.deleted;
  $("manifest-link").href = `/v1/jobs/${job.id}/files/recording.json`;
}

function drawUsers(status) {
  if (!shownJob || ended.includes(shownJob.state) || shownJob.state === "storing") { return; }
  const known = new Map([...$("users").children].map((element) => [element.user, element]));
  const next = status.users.map((user) => {
    const element = known.get(user.user) ?? $("user").content.firstElementChild.cloneNode(true);
    element.user = user.user;
    const mayPause = session.role !== "viewer" && shownJob.kind === "record";
    element.classList.toggle("is-paused", user.isPaused);
    element.querySelector(".name").textContent = user.name ?? user.user;
    element.querySelector(".id bdi").textContent = user.name === null ? "" : user.user;
    const state = element.querySelector(".state");
    state.textContent = user.isPaused ? "paused" : user.isStalled ? "stalled" : user.state;
    state.dataset.state = user.isStalled ? "failed" : user.isPaused ? "starting" : user.state === "connected" ? "running" : "";
    const level = user.audioLevel === null ? 0 : Math.max(0, Math.min(1, 1 + user.audioLevel / 60));
    const meter = element.querySelector(".level");
    meter.style.setProperty("--level", level);
    meter.setAttribute("aria-valuenow", Math.round(user.audioLevel ?? -60));
    element.querySelector(".numbers").textContent =
      `${rate(user.bitrate)} · ${user.framesPerSecond.toFixed(0)} fps · loss ${loss(user.counts)}`;
    const button = element.querySelector(".pause-user");
    button.hidden = !mayPause;
    button.textContent = user.isPaused ? "Resume" : "Pause";
    button.onclick = () => change(user.isPaused ? "resume" : "pause", { users: [user.user] });
    drawSnapshot(element, user);
    return element;
  });
  // Elements that stay where they are keep the focus.
  next.forEach((element, index) => { if ($("users").children[index] !== element) { $("users").insertBefore(element, $("users").children[index] ?? null); } });
  while ($("users").children.length > next.length) { $("users").lastElementChild.remove(); }
  $("no-users").hidden = next.length > 0;
  const node = [...$("facts").querySelectorAll("dt")].find((term) => term.textContent === "Duration");
  if (node) { node.nextElementSibling.textContent = duration(shownJob); }
}

async function drawSnapshot(element, user) {
  const canvas = element.querySelector("canvas");
  if (!session.snapshots || user.isPaused) { canvas.hidden = true; return; }
  if (element.nextSnapshot > Date.now()) { return; }
  element.nextSnapshot = Date.now() + 3000;
  try {
    const path = `/v1/jobs/${shownJob.id}/users/${encodeURIComponent(user.user)}/snapshot.png`;
    const response = await fetch(path, { cache: "no-store" });
    if (!response.ok || response.headers.get("Content-Type") !== "image/png") { return; }
    const picture = await createImageBitmap(await response.blob());
    if (element.classList.contains("is-paused")) { return; }
    canvas.width = picture.width;
    canvas.height = picture.height;
    canvas.getContext("2d").drawImage(picture, 0, 0);
    canvas.hidden = false;
  } catch { /* the next one */ }
}

function addEvent(event) {
  const item = document.createElement("li");
  const [time, type, text] = [document.createElement("time"), document.createElement("b"), document.createElement("span")];
  time.dateTime = event.time;
  time.textContent = clock(event.time);
  type.textContent = event.type;
  text.dir = "auto";
  text.textContent = describe(event);
  item.append(time, type, text);
  $("events").prepend(item);
  while ($("events").children.length > 300) { $("events").lastElementChild.remove(); }
}

function describe(event) {
  const data = event.data;
  const user = data.user ? `, user ${data.user}` : "";
  switch (event.type) {
    case "recording.paused": case "recording.resumed":
      return `${data.users ? data.users.join(", ") : "everybody"}, effective at ${clock(data.effectiveAt)}`;
    case "recording.file": return `${data.name}, ${size(data.bytes)}${user}`;
    case "recording.conflict": return `${data.name}: ${data.taken} has another content; stored as ${data.object}`;
    case "recording.amended":
    case "recording.finished": return `${data.files} media files; ${data.complete ? "complete" : "not complete"}`;
  }
  if (event.type.startsWith("participant.")) { return data.name ? `${data.name} (${data.user})` : data.user ?? ""; }
  if (data.sentence) { return data.sentence; }
  return Object.entries(data).filter(([, value]) => value !== null)
    .map(([name, value]) => `${name} ${typeof value === "object" ? JSON.stringify(value) : value}`).join(", ");
}

function drawFiles(files) {
  const isMedia = (file) => /\.(webm|mkv|ogg|mka)$/.test(file.name);
  const shown = [...files.filter(isMedia), ...files.filter((file) => !isMedia(file))];
  $("files").tBodies[0].replaceChildren(...shown.map((file) => {
    const row = document.createElement("tr");
    const cell = (name, text, isNumber) => {
      const cell = row.insertCell();
      cell.dataset.name = name;
      cell.textContent = text;
      cell.dir = "auto";
      if (isNumber) { cell.className = "number"; }
      return cell;
    };
    const link = document.createElement("a");
    link.href = file.url;
    link.download = file.name;
    link.textContent = file.name;
    cell("Name", "").append(link);
    cell("User", file.user ?? "–");
    cell("Duration", file.duration === null ? "–" : span(file.duration), true);
    cell("Size", size(file.bytes), true);
    const actions = row.insertCell();
    if (/\.(webm|ogg|mka|mkv)$/.test(file.name)) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "quiet";
      button.textContent = "Play";
      button.onclick = () => play(file);
      actions.append(button);
    }
    return row;
  }));
  $("files").hidden = shown.length === 0;
  $("no-files").hidden = shown.length > 0;
  $("no-files").textContent = shownJob.deleted ? "The recording was deleted." : "No file is stored yet.";
}

function play(file) {
  const isAudio = /\.(ogg|mka)$/.test(file.name);
  const player = document.createElement(isAudio ? "audio" : "video");
  player.controls = true;
  player.autoplay = true;
  player.src = file.url;
  $("player").replaceChildren(player);
  $("player").hidden = false;
  player.focus();
}

async function change(command, body) {
  report("job-problem", null);
  try {
    const result = await call("POST", `/v1/jobs/${shownJob.id}/${command}`, body ?? {});
    shownJob = result.job;
    drawJob(shownJob);
    if (!result.done) { toast("The service carries this out as soon as it can."); }
  } catch (error) {
    report("job-problem", error);
  }
}

// What the operator does.

$("login-form").onsubmit = async (event) => {
  event.preventDefault();
  report("login-problem", null);
  try {
    await call("POST", "/v1/session", { token: $("token").value.trim() });
    $("token").value = "";
    await begin();
  } catch (error) {
    report("login-problem", error);
  }
};
$("leave").onclick = async () => {
  await call("DELETE", "/v1/session").catch(() => {});
  showLogin();
};
$("new-job").onsubmit = async (event) => {
  event.preventDefault();
  report("new-problem", null);
  const job = { kind: "record" };
  if ($("new-room").value) { job.room = $("new-room").value; }
  if ($("new-server").value) { job.server = $("new-server").value; }
  try {
    const made = await call("POST", "/v1/jobs", job);
    $("new-room").value = "";
    location.hash = `#job/${made.id}`;
  } catch (error) {
    report("new-problem", error);
  }
};
for (const id of ["filter-state", "filter-kind"]) { $(id).onchange = () => refreshList().catch(() => {}); }
$("filter-room").oninput = () => refreshSoon(refreshList);
$("filters").onsubmit = (event) => event.preventDefault();
$("webhook-state").onchange = () => refreshWebhooks().catch(() => {});
$("webhook-filters").onsubmit = (event) => event.preventDefault();
$("more-deliveries").onclick = () => showOlderWebhooks().catch(() => {});
$("more").onclick = () => showOlder().catch(() => {});
$("jobs").onclick = (event) => {
  const row = event.target.closest("tr[data-job]");
  if (row && event.target.tagName !== "A") { location.hash = `#job/${row.dataset.job}`; }
};
$("pause").onclick = () => change("pause");
$("resume").onclick = () => change("resume");
$("stop").onclick = () => change("stop");
$("delete").onclick = async () => {
  if (!confirm("Delete all files of this recording?")) { return; }
  try {
    await call("DELETE", `/v1/jobs/${shownJob.id}/recording`);
    await refreshJob(shownJob.id);
  } catch (error) {
    report("job-problem", error);
  }
};
window.onhashchange = () => route();
setInterval(() => { if (!$("list").hidden) { drawFigures(); } }, 1000);
setInterval(() => { if (!$("list").hidden && session) { refreshNodes().catch(() => {}); } }, 10_000);
begin();
