// The lessons: what is predicted stays here until it is run; all that is shown comes as a screen.

import { become } from "./become.js"
import startChoices from "./touch/choices.js"
import startPrediction from "./touch/prediction.js"

const at = (id) => document.getElementById(id)
const predicted = {} // by lesson, the number of the answer that is chosen here
let current = null
let runs = 0, lastRun = "" // how often a lesson was run here, and which one last

export const lessonWidth = () => document.querySelector("#lesson .drawn").clientWidth
const answer = () => predicted[current.lesson] ?? current.predicted

const settle = () => {
  const open = answer() === null
  at("run").disabled = open || document.body.dataset.engine === "none"
  at("first").hidden = !open
  for (const box of at("choices").querySelectorAll("input")) box.checked = Number(box.dataset.answer) === answer()
}
const choose = (number) => {
  predicted[current.lesson] = number
  settle()
  showSpots(current)
}

const showFigures = (next, draw) => {
  const [, below] = next.figures
  at("below").hidden = !below // a figure is as wide as its place, which has to be there
  at("below-title").textContent = below?.alt ?? ""
  for (const [i, name] of ["lesson", "below"].entries()) {
    const figure = next.figures[i]
    at(`${name}-figure`).classList.toggle("empty", !figure)
    become(at(`${name}-table`), figure?.table ?? "")
    if (figure) draw(at(`${name}-figure`), figure, next)
  }
}
const showHandle = ({ handle, lesson }) => {
  const root = at("handle").shadowRoot
  at("handle").hidden = !handle
  if (!handle) return root.stop?.()
  const data = { ...handle, chosen: answer(), fresh: handle.measured && lesson === lastRun ? runs : 0 }
  startPrediction({ data, parentElement: root, setStateValue: (_, number) => choose(number) })
}
// The choices that are points of the figure.
const showSpots = ({ spots }) => {
  const root = at("spots")
  if (!spots) return root.stop?.()
  const data = { ...spots, chosen: answer() }
  startChoices({ data, parentElement: root, setTriggerValue: (_, number) => choose(number) })
}
export const showLesson = (next, draw) => {
  const isAnother = current !== null && current.lesson !== next.lesson
  current = next
  at("lesson").hidden = Boolean(next.report)
  at("forget").hidden = !next.forget
  become(at("lesson-steps"), next.steps)
  become(at("score"), next.score)
  become(at("lesson-head"), next.head)
  become(at("lesson-text"), next.text)
  become(at("choices"), next.choices)
  become(at("verdict"), next.verdict)
  become(at("reason"), next.reason)
  become(at("ways-on"), next.links)
  become(at("report"), next.report)
  showFigures(next, draw)
  showHandle(next)
  showSpots(next)
  settle()
  if (isAnother) scrollTo(0, 0)
}

// `teach` asks the engine, `open` shows the curves at an address; `isLive` says whether there is one.
export const listenToLessons = ({ teach, open, isLive }) => {
  for (const id of ["steps", "reason"])
    at(id).addEventListener("click", ({ target }) => target.dataset.step && teach("go", target.dataset.step))
  at("steps").addEventListener("change", ({ target }) => teach("go", target.value))
  at("choices").addEventListener("change", ({ target }) => choose(Number(target.dataset.answer)))
  at("run").addEventListener("click", () => {
    runs += 1
    lastRun = current.lesson
    teach("run", lastRun, answer())
  })
  at("forget").addEventListener("click", () => {
    for (const lesson of Object.keys(predicted)) delete predicted[lesson]
    teach("forget")
  })
  at("report").addEventListener("change", ({ target }) =>
    target.dataset.question ? teach("reply", Number(target.dataset.question), target.value) : teach("say", target.value))
  at("ways-on").addEventListener("click", (event) => {
    if (!event.target.dataset.open || !isLive()) return
    event.preventDefault()
    open(event.target.dataset.open)
  })
}
