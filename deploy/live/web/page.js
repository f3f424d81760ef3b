// The page: it shows what Python has made, as prepared files or from the engine in its worker, and
// tells the engine what somebody has moved. It holds no word, number or colour of its own.

import { become, markMoved, moved } from "./become.js"
import { lessonWidth, listenToLessons, showLesson } from "./lessons.js"
import startPicture from "./touch/picture.js"

const at = (id) => document.getElementById(id)
const { words, default: first, addresses, views, widths, packages, lessons } = JSON.parse(at("known").textContent)
const dark = matchMedia("(prefers-color-scheme: dark)")
const CONFIG = { displaylogo: false, displayModeBar: false, responsive: true }
const SILENCE = 20_000 // milliseconds without a word while it works: the engine is lost
const MOST_STARTS = 2

const [curves] = Object.values(views)
const view = () => views[location.hash] ?? curves
const teaches = () => view() === lessons.view
const look = () => ({ width: teaches() ? lessonWidth() : at("figure").clientWidth, dark: dark.matches, view: view() })
const kind = () => teaches()
  ? `${lessons.view}-${look().width > lessons.width ? "wide" : "compact"}`
  : Object.keys(widths).find((name) => look().width <= widths[name]) ?? "wide"

// -- what is shown ---------------------------------------------------------------------------------

let screen = null
const show = (next) => {
  screen = next
  become(at("wrong"), next.wrong.map((text) => `<p>${text.replaceAll("<", "&lt;")}</p>`).join(""))
  if (next.controls) become(at("controls"), next.controls)
  if (next.figure) showCurves(next)
  else if (next.picture) showPicture(next)
  else if (next.lesson) showLesson(next, draw)
  document.body.dataset.drawn = next.done ? "done" : "growing"
  document.body.dataset.address = next.address
}
const showCurves = (next) => {
  become(at("head"), next.head)
  become(at("table"), next.table)
  become(at("panels"), next.panels)
  become(at("cards"), next.cards)
  become(at("records"), next.records)
  become(at("whose"), next.whose)
  become(at("notes"), next.notes)
  draw(at("figure"), { ...next.figure, alt: next.alt }, next)
}
// Draw a figure into a place, once Plotly is there, if what it belongs to is still shown.
const draw = (place, { data, layout, alt }, owner) => {
  place.setAttribute("aria-label", alt)
  const paint = () => screen === owner && Plotly.react(place, data, { ...layout, autosize: true }, CONFIG)
  if (window.Plotly) paint()
  else at("plotly").addEventListener("load", paint, { once: true })
}
const showPicture = ({ head, sample, picture }) => {
  become(at("picture-head"), head)
  become(at("sample"), sample)
  at("hand").hidden = false
  startPicture({ data: picture, parentElement: at("hand").shadowRoot })
}
const status = (text) => { at("status").textContent = text }

// -- prepared figures ------------------------------------------------------------------------------

let live = false
const chosen = {} // by view, the preset or the lesson that is shown before the engine is there
const drawing = () => (view() === curves || teaches() ? kind() : view())
const group = () => (teaches() ? lessons.view : curves) // the picture is that of a preset
const prepare = async () => {
  const now = drawing(), owner = group(), name = chosen[owner]
  if (!name || (teaches() && !lessons.prepared.includes(name))) return
  const answer = await fetch(`prepared/${name}.${now}.${dark.matches ? "dark" : "light"}.json`)
  const next = await answer.json()
  await document.fonts.load("16px 'Source Sans'") // names are placed by their width
  if (live || chosen[owner] !== name || now !== drawing()) return
  document.body.dataset.engine ??= "starting"
  show(next)
}

// -- the engine ------------------------------------------------------------------------------------

let engine, starts = 0, timer, step = "engine", failed = null
let waiting = [] // what was asked before the engine was there
const tell = () => {
  if (failed) return status(words.only.replace("{why}", failed))
  const text = starts > 1 ? words.restarted : waiting.length || !screen ? words.waiting : words.prepared
  status(text.replace("{step}", words.steps[step]))
}
const watch = () => {
  clearTimeout(timer)
  if (live && document.body.dataset.drawn !== "done") timer = setTimeout(() => again("silent"), SILENCE)
}
const again = (why) => {
  engine?.terminate()
  clearTimeout(timer)
  live = false
  if (starts >= MOST_STARTS) {
    failed = why
    document.body.dataset.engine = "none"
    return tell()
  }
  if (screen) waiting = [["open", document.body.dataset.address]]
  begin()
}
const hear = {
  step: (name) => { step = name; tell() },
  ready: () => {
    live = true
    document.body.dataset.engine = "live"
    const asked = waiting.length ? waiting : [["open", location.search.slice(1)]]
    const same = screen !== null && chosen[group()] !== undefined && waiting.length < 2 // nothing moved since
    waiting = []
    document.querySelectorAll("[data-file]").forEach((button) => { button.disabled = false })
    ask({ asked, look: look(), same })
  },
  screen: (text) => {
    const next = JSON.parse(text)
    starts = 1
    moved.clear()
    show(next)
    status(next.status)
    history.replaceState(null, "", `?${next.address}${location.hash}`)
    visiting()
  },
  status,
  file: ({ file, text }) => {
    const link = document.createElement("a")
    link.href = URL.createObjectURL(new Blob([text]))
    link.download = file === "json" ? "dpsco-run.json" : "dpsco_run.py"
    link.click()
    URL.revokeObjectURL(link.href)
  },
  dead: (why) => again(why),
}
// A worker that has died lets go of its lock; where a page may hold none, its silence tells.
const mourn = async (its, lock) => {
  while (engine === its && !live) await new Promise((go) => setTimeout(go, 200))
  navigator.locks?.request(lock, () => engine === its && again("ended"))
}
const begin = () => {
  starts += 1
  step = "engine"
  tell()
  Object.assign(document.body.dataset, { engine: "starting", drawn: starts > 1 ? "growing" : document.body.dataset.drawn ?? "" })
  engine = new Worker("worker.js", { type: "module" })
  engine.onmessage = ({ data }) => { hear[data.kind](data.value); watch() }
  engine.onerror = ({ message }) => again(message)
  const lock = `dpsco ${crypto.randomUUID?.() ?? Math.random()}`
  engine.postMessage({ packages, lock })
  mourn(engine, lock)
}
const ask = (question) => {
  engine.postMessage(question)
  if (question.asked) document.body.dataset.drawn = "growing"
  watch()
}
const want = (...asked) => {
  if (live) return ask({ asked: [asked] })
  if (failed) return
  // The address has all; before the engine is there, a screen of a lesson has its own part alone.
  const address = teaches() ? null : document.body.dataset.address
  if (!waiting.length) waiting.push(["open", address ?? location.search.slice(1)])
  waiting.push(asked)
  tell()
}

// -- what somebody does ----------------------------------------------------------------------------

const valueOf = (input) => {
  if (input.type === "range") return JSON.parse(input.dataset.values)[input.value]
  if (input.type === "checkbox") {
    return [...document.querySelectorAll(`[data-field=${input.dataset.field}]:checked`)].map((box) => box.value)
  }
  return input.type === "number" ? Number(input.value) : input.value
}
at("controls").addEventListener("input", ({ target }) => {
  if (!target.dataset.field) return
  if (target.type === "range") {
    const text = JSON.parse(target.dataset.texts)[target.value]
    target.setAttribute("aria-valuetext", text)
    target.parentElement.querySelector("output").textContent = text
  }
  markMoved(target)
  want("change", target.dataset.field, valueOf(target))
})
for (const id of ["panels", "cards"]) at(id).addEventListener("click", ({ target }) => {
  const { field, value } = target.closest("button")?.dataset ?? {}
  if (field) want("change", field, value)
})
at("presets").addEventListener("click", ({ target }) => {
  if (!target.dataset.preset) return
  at("presets").open = false
  if (live) return want("start", target.dataset.preset)
  waiting = [["start", target.dataset.preset]]
  chosen[curves] = target.dataset.preset
  prepare().then(tell)
})
document.addEventListener("click", ({ target }) => {
  if (!at("presets").contains(target)) at("presets").open = false
})
at("settings").addEventListener("click", () => {
  const open = document.body.classList.toggle("settings")
  at("settings").setAttribute("aria-expanded", open)
})
listenToLessons({
  isLive: () => live,
  teach: (...asked) => {
    if (asked[0] === "go") chosen[lessons.view] = asked[1]
    want("lesson", ...asked)
    if (!live && asked[0] === "go") prepare().then(tell)
  },
  open: (address) => {
    want("open", address)
    location.hash = Object.keys(views)[0]
  },
})
at("link").addEventListener("click", () => navigator.clipboard?.writeText(location.href))
document.querySelectorAll("[data-file]").forEach((button) =>
  button.addEventListener("click", () => live && ask({ file: button.dataset.file })))
let seen = null
const resized = () => {
  const now = `${drawing()} ${dark.matches}`
  if (now === seen) return
  seen = now
  if (live) ask({ look: look() })
  else prepare()
}
const sizes = new ResizeObserver(resized)
for (const id of ["figure", "learn"]) sizes.observe(at(id))
dark.addEventListener("change", resized)

// The settings of the visit go along to the other views.
const visiting = () => {
  document.body.dataset.view = view()
  for (const link of document.querySelectorAll("#views a")) {
    link.search = location.search
    if (views[link.hash]) link.pathname = location.pathname // not another page: the engine stays
    if (views[link.hash] === view()) link.setAttribute("aria-current", "page")
    else link.removeAttribute("aria-current")
  }
}
addEventListener("hashchange", () => {
  visiting()
  document.body.dataset.drawn = "growing"
  seen = `${drawing()} ${dark.matches}`
  chosen[lessons.view] ??= lessons.steps[0]
  if (live) ask({ look: look() })
  else prepare()
})

const open = () => {
  visiting()
  seen = `${drawing()} ${dark.matches}`
  const parts = location.search.slice(1).split("&")
  const asked = parts.filter((part) => !lessons.fields.includes(part.split("=")[0])).join("&")
  const taught = new URLSearchParams(location.search).get("lesson")
  chosen[curves] = asked ? Object.keys(addresses).find((slug) => addresses[slug] === asked) : first
  chosen[lessons.view] = lessons.steps.includes(taught) ? taught : lessons.steps[Number(taught) - 1] ?? lessons.steps[0]
  if (typeof WebAssembly !== "object") {
    failed = "WebAssembly"
    document.body.dataset.engine = "none"
    chosen[curves] ??= first
    prepare().then(tell)
    return
  }
  const there = chosen[group()] ? prepare() : Promise.resolve()
  // The figure first: both want the machine.
  if (window.Plotly) there.finally(begin)
  else at("plotly").addEventListener("load", () => there.finally(begin), { once: true })
}
open()
