// What the picture says of itself: its summary, the values beside its names.

import { bestGuess, distance, guessLimit, length } from "./clipping.js"
import { percents, short } from "./errors.js"

const percent = (share) => `${Math.floor(share * 100)} %`

const costOf = (data, at, { choice }) => percent(1 - choice.left / data.rhos[at.epsilon])

// Before any noise is added: what the average does.
const withoutNoise = (now, shift, shown = ["means"]) => {
  if (!shown.includes("means")) {
    return `${now.n} records. The farthest lies ${short(Math.max(...now.points.map(length)))} ` +
      "from the centre."
  }
  const clip = now.unclipped ? "" : " clipped"
  const average = `the average of the ${now.n}${clip} records`
  if (!now.neighbour) {
    const miss = distance(now.unclipped ? now.plain : now.release, now.mean)
    return `${average[0].toUpperCase()}${average.slice(1)} is ${short(miss)} from the true mean.`
  }
  const limit = now.unclipped ? "The farther away it lies, the more it moves, without any limit."
    : `No record can move it by more than ${short((2 * now.radius) / now.n)}.`
  return `Your record moved ${average} by ${short(shift)}. ${limit}`
}

// Which part the error is made of, and what would lower it.
const mostOf = (parts) => {
  const { sampling, bias, noise } = percents(parts)
  const half = parts.total / 2
  if (parts.bias > half) return `Clipping bias makes ${bias} of its square: try a larger radius.`
  if (parts.noise > half) return `Noise makes ${noise} of its square: a smaller radius needs less.`
  if (parts.sampling > half) {
    return `Sampling makes ${sampling} of its square: that is there without privacy, too.`
  }
  return `Sampling makes ${sampling} of its square, clipping bias ${bias}, noise ${noise}.`
}

const sentence = ({ data, at, parts: shown }, now) => {
  const shift = now.moved && Math.hypot(...now.moved.map((x, i) => x - now.release[i]))
  if (now.unclipped || (shown && !shown.includes("cloud"))) return withoutNoise(now, shift, shown)
  if (now.neighbour) {
    return `Your record moved the average by ${short(shift)}, ${short(shift / now.std)} of the noise's ` +
      `standard deviation. Whoever sees the release guesses which of the two records you had, and is ` +
      `right ${percent(bestGuess(shift, now.std))} of the time. Tossing a coin gives 50 %; ` +
      `no private method allows more than ` +
      `${percent(guessLimit(data.epsilons[at.epsilon], data.delta))} at this budget.`
  }
  if (now.choice.odds && !now.choice.epsilon) {
    return "These records are too few to choose a radius privately at this budget: the largest one " +
      "is taken, without looking. Try more records, or a larger ε."
  }
  if (now.choice.odds) {
    const times = (square) => short(Math.sqrt(square / now.best))
    return `The bars show how likely each radius is in a private choice. This time it is ` +
      `${short(now.radius)}, whose error is ${times(now.parts.total)} times that of the best radius; ` +
      `in half of all choices it is at most ${times(now.choice.half)} times. The choice cost ` +
      `${costOf(data, at, now)} of the privacy budget.`
  }
  const outside = now.points.filter((p) => length(p) > now.radius).length
  const worst = now.parts.total < 1.02 * now.best ? "No radius has a smaller typical error."
    : mostOf(now.parts)
  return `${outside} of ${now.n} records are clipped. A typical release is ` +
    `${short(Math.sqrt(now.parts.total))} from the true mean. ${worst}`
}

export const drawTexts = (picture, now) => {
  const { data, state } = picture
  const put = (name, text) => {
    for (const out of picture.all(`[data-value=${name}]`)) out.textContent = text
  }
  put("radius", short(now.radius))
  put("n", now.n)
  put("epsilon", data.epsilons[state.at.epsilon])
  put("p", data.orders[state.at.p])
  for (const [name, values] of [["n", data.sizes], ["epsilon", data.epsilons], ["p", data.orders]]) {
    picture.find(`input[name=${name}]`).setAttribute("aria-valuetext", values[state.at[name]])
  }
  picture.find("input[name=radius]").setAttribute("aria-valuetext", short(now.radius))
  put("target", short(now.choice.target))
  put("choice", short(now.choice.epsilon))
  put("cost", costOf(data, state.at, now))
  put("plane", now.unclipped ? "The records." : "Clip.")
  put("hint", now.unclipped ? "" : "Drag the circle: what lies outside is pulled onto it.")
  const noisy = !state.parts || state.parts.includes("cloud")
  put("means", noisy && !now.unclipped ? "Average, then add noise." : "Average.")
  put("sensitivity", short((2 * now.radius) / now.n))
  put("std", short(now.std))
  put("rho", short(now.rho))
  put("budget", `${data.epsilons[state.at.epsilon]}, ${data.delta}`)
  put("shift", short(Math.sqrt(2 * now.rho)))
  put("limit", percent(guessLimit(data.epsilons[state.at.epsilon], data.delta)))
  const said = sentence(state, now)
  picture.find(".summary").textContent = said
  const circle = now.unclipped ? "" : `, and a circle of radius ${short(now.radius)} that clips them`
  const seen = `${now.n} records around the true mean${circle}.`
  picture.canvas.records.setAttribute("aria-label", seen)
  picture.canvas.means.setAttribute("aria-label", `The cloud of possible releases. ${said}`)
  // No use where the record is there already: no other place moves the average more.
  const most = (Math.min(length(now.points[0]), now.radius) + now.radius) / now.n
  const worst = now.moved && distance(now.moved, now.release) > 0.999 * most
  picture.find("[name=worst]").hidden = !now.neighbour || now.unclipped || worst
  picture.find("[name=change]").setAttribute("aria-pressed", String(Boolean(now.neighbour)))
}
