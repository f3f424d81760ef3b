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
let isBack = false  // whether somebody has gone back to a page that is not drawn yet

const isDrawn = () => placeOf(page.places) === page.place
  && sorted(location.search) === sorted(page.address)

// What comes while somebody is on the way back may be late, of a page that was left: it leads to no
// other place. And the same parameters in another order or spelling are no step.
const step = (push, replace) => (state, title, url) => {
  const { pathname, search } = new URL(url ?? location.href, location.href)
  const isElsewhere = pathname !== location.pathname
  if (isBack && isElsewhere) return
  const isStep = isElsewhere || sorted(search) !== sorted(location.search)
  if (!isBack && isStep && isDrawn()) push(state, title, url)
  else replace(state, title, url)
}

// Called at every run of a page, with what it was drawn for.
export const keepSteps = (data) => {
  const isFirst = page === null
  page = data
  isBack &&= !isDrawn()
  if (!isFirst) return
  const use = () => { isBack = false }
  for (const event of ["pointerdown", "keydown", "click"]) addEventListener(event, use, true)
  addEventListener("popstate", () => { isBack = true })
  history.pushState = step(history.pushState.bind(history), history.replaceState.bind(history))
}
