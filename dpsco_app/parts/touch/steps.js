// The steps of the Back button. Streamlit takes two to another page: to its path and to its
// parameters, in either order. Back would stop between them, at a page with the parameters of another
// one. So whatever follows an address for which no page was drawn takes its place.

// The place of the address that the browser shows; the front page has no path of its own.
export const placeOf = (places) => {
  const last = location.pathname.split("/").at(-1)
  return places.includes(last) ? last : ""
}

const sorted = (query) => {
  const parameters = new URLSearchParams(query)
  parameters.sort()
  return parameters.toString()
}

let page = null  // the last one that was drawn: its place and its parameters
let isBack = false  // whether the last move was one of Back or Forward, not one on the page
let correction = 0  // the timer of `correct`

const isInPlace = () => placeOf(page.places) === page.place
const isDrawn = () => isInPlace() && sorted(location.search) === sorted(page.address)

// The browser's own: the page's is replaced below.
const replaceNow = (...asked) => History.prototype.replaceState.apply(history, asked)

// After Back and Forward the address is that of the step, until somebody uses the page. What
// Streamlit says of another address may be late, of a page that was left; written into this step, it
// would stay there if the next step is taken before the right one comes. And the same parameters in
// another order or spelling are no step.
const step = (push) => (state, title, url) => {
  if (isBack) return
  const { pathname, search } = new URL(url ?? location.href, location.href)
  const isStep = pathname !== location.pathname || sorted(search) !== sorted(location.search)
  if (isStep && isDrawn()) push(state, title, url)
  else replaceNow(state, title, url)
}

// The page that is drawn in the end shows what it was drawn for, whatever the step asked for.
const correct = () => {
  clearTimeout(correction)
  correction = 0
  if (!isBack || !isInPlace() || isDrawn()) return
  const query = page.address ? "?" + page.address : ""
  replaceNow(history.state, "", location.pathname + query + location.hash)
}
const LATE = 500  // ms: a page that was left, and is stopped, is drawn no later than that

// Called at every run of a page, with what it was drawn for.
export const keepSteps = (data) => {
  const isFirst = page === null
  page = data
  if (isBack) {
    clearTimeout(correction)
    correction = setTimeout(correct, LATE)
  }
  if (!isFirst) return
  const use = () => {
    if (correction) correct()
    isBack = false
  }
  for (const event of ["pointerdown", "keydown", "click"]) addEventListener(event, use, true)
  addEventListener("popstate", () => {
    isBack = true
    clearTimeout(correction)
    correction = 0
  })
  history.pushState = step(history.pushState.bind(history))
  history.replaceState = (...asked) => { if (!isBack) replaceNow(...asked) }
}
