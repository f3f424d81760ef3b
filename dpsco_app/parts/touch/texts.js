// What the picture says of itself: its summary, the values beside its names.

import { bestGuess, guessLimit, length } from "./clipping.js"
import { short } from "./errors.js"

const percent = (share) => `${Math.floor(share * 100)} %`

const costOf = (data, at, { choice }) => percent(1 - choice.left / data.rhos[at.epsilon])

const sentence = ({ data, at }, now) => {
  if (now.neighbour) {
    const shift = Math.hypot(now.moved[0] - now.release[0], now.moved[1] - now.release[1])
    return `Your record moved the average by ${short(shift)}, ${short(shift / now.std)} of the noise's ` +
      `standard deviation. Whoever sees the release guesses which of the two records you had, and is ` +
      `right ${percent(bestGuess(shift, now.std))} of the time. Tossing a coin gives 50 %; ` +
      `no private method allows more than ` +
      `${percent(guessLimit(data.epsilons[at.epsilon], data.delta))} at this budget.`
  }
  const { sampling, bias, noise, total } = now.parts
  if (now.choice.odds && !now.choice.epsilon) {
    return "These records are too few to choose a radius privately at this budget: the largest one " +
      "is taken, without looking. Try more records, or a larger ε."
  }
  if (now.choice.odds) {
    const times = (error) => short(error / now.best)
    return `The bars show how likely each radius is in a private choice. This time it is ` +
      `${short(now.radius)}, whose error is ${times(now.parts.total)} times that of the best radius; ` +
      `in half of all choices it is at most ${times(now.choice.half)} times. The choice cost ` +
      `${costOf(data, at, now)} of the privacy budget.`
  }
  const outside = now.points.filter((p) => length(p) > now.radius).length
  const worst = bias > noise ? "Most of it is the bias of clipping: try a larger radius."
    : noise > Math.max(bias, sampling) ? "Most of it is noise: a smaller radius needs less."
      : "Most of it is there without privacy: the average itself is off."
  return `${outside} of ${now.n} records are clipped. A typical release is ${short(total)} from the ` +
    `true mean. ${worst}`
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
  put("sensitivity", short((2 * now.radius) / now.n))
  put("std", short(now.std))
  put("rho", short(now.rho))
  put("budget", `${data.epsilons[state.at.epsilon]}, ${data.delta}`)
  put("shift", short(Math.sqrt(2 * now.rho)))
  put("limit", percent(guessLimit(data.epsilons[state.at.epsilon], data.delta)))
  const said = sentence(state, now)
  picture.find(".summary").textContent = said
  const seen = `${now.n} records around the true mean, and a circle of radius ${short(now.radius)} ` +
    "that clips them."
  picture.canvas.records.setAttribute("aria-label", seen)
  picture.canvas.means.setAttribute("aria-label", `The cloud of possible releases. ${said}`)
  picture.find("[name=worst]").hidden = !now.neighbour
  picture.find("[name=change]").setAttribute("aria-pressed", String(Boolean(now.neighbour)))
}
