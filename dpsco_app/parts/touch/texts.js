// What the picture says of itself: its summary, the values beside its names.

import { bestGuess, distance, guessLimit, length } from "./clipping.js"
import { percents, short } from "./errors.js"

const percent = (share) => `${Math.floor(share * 100)} %`
const atMost = (share) => `${Math.ceil(share * 10000 - 1e-7) / 100} %`

const costOf = ({ choiceRho, rho }) => percent(1 - choiceRho / rho)

const count = (value) => value.toLocaleString("en")

// Before any noise is added: what the average does.
const withoutNoise = (now, shift, shown = ["means"]) => {
  if (!shown.includes("means")) {
    return `${count(now.n)} records. The farthest lies ${short(Math.max(...now.points.map(length)))} ` +
      "from the centre."
  }
  const clip = now.unclipped ? "" : " clipped"
  const average = `the average of the ${count(now.n)}${clip} records`
  if (!now.moved) {
    const miss = distance(now.release, now.mean)
    return `${average[0].toUpperCase()}${average.slice(1)} is ${short(miss)} from the true mean.`
  }
  const limit = now.unclipped ? "The farther away it lies, the more it moves, without any limit."
    : `No record can move it by more than ${short((2 * now.radius) / now.n)}.`
  return `Your record lies ${short(length(now.place))} from the centre. It moved ${average} by ` +
    `${short(shift)}. ${limit}`
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

const sentence = ({ parts: shown, data: { samples: [first] } }, now) => {
  const shift = now.moved && distance(now.moved, now.release)
  const { sample } = now
  if (now.unclipped || (shown && !shown.includes("cloud"))) return withoutNoise(now, shift, shown)
  if (now.moved) {
    return `Your record moved the average by ${short(shift)}, ${short(shift / now.std)} of the noise's ` +
      `standard deviation. Whoever sees the release guesses which of the two records you had, and is ` +
      `right ${percent(bestGuess(shift, now.std))} of the time. Tossing a coin gives 50 %; ` +
      `no private method allows more than ${atMost(guessLimit(sample.epsilon, sample.delta))} ` +
      "at this budget."
  }
  if (now.odds && !sample.choiceEpsilon) {
    return "These records are too few to choose a radius privately at this budget: the largest one " +
      "is taken, without looking. Try more records, or a larger ε."
  }
  if (now.odds) {
    const times = (square) => {
      const factor = short(Math.sqrt(square / now.best))
      return factor === "1" ? "that" : `${factor} times that`
    }
    return `The bars show how likely each radius is in a private choice. This time it is ` +
      `${short(now.radius)}, whose error is ${times(now.parts.total)} of the best radius; ` +
      `in half of all choices it is at most ${times(now.half)}. The choice cost ` +
      `${costOf(sample)} of the privacy budget.`
  }
  const outside = now.points.filter((p) => length(p) > now.radius).length
  const worst = now.parts.total < 1.0005 * now.best ? "No radius here has a smaller typical error."
    : now.parts.total < 1.02 * now.best ? "At the best radius the error is hardly smaller."
    : mostOf(now.parts)
  const [the, drawn] = now.n > now.points.length ? ["the ", " shown"] : ["", ""]
  const law = sample.p === first.p ? "" : `At p = ${sample.p}, `
  return `${law}${outside} of ${the}${now.points.length} records${drawn} are clipped. A typical release is ` +
    `${short(Math.sqrt(now.parts.total))} from the true mean. ${worst}`
}

export const drawTexts = (picture, now) => {
  const { state } = picture
  const { sample } = now
  const put = (name, text) => {
    for (const out of picture.all(`[data-value=${name}]`)) out.textContent = text
  }
  const away = now.place ? short(length(now.place)) : ""
  put("radius", now.unclipped ? "" : short(now.radius))
  put("distance", away)
  picture.find("input[name=radius]").setAttribute("aria-valuetext", short(now.radius))
  picture.find("input[name=distance]").setAttribute("aria-valuetext", away)
  put("target", short(sample.target))
  put("choice", short(sample.choiceEpsilon))
  put("cost", costOf(sample))
  put("plane", now.unclipped ? "The records." : "Clip.")
  const drag = "Drag the circle around 0: records outside are pulled onto it."
  const other = state.sample && `Now p = ${sample.p}, still ${count(now.n)} records.`
  put("hint", now.unclipped ? "" : other || drag)
  const noisy = !state.parts || state.parts.includes("cloud")
  put("means", noisy && !now.unclipped ? "Average, then add noise." : "Average.")
  put("sensitivity", short((2 * now.radius) / now.n))
  put("std", short(now.std))
  put("rho", short(now.rho))
  put("budget", `${short(sample.epsilon)}, ${short(sample.delta)}`)
  put("shift", short(Math.sqrt(2 * now.rho)))
  put("limit", atMost(guessLimit(sample.epsilon, sample.delta)))
  const told = sentence(state, now)
  picture.find(".summary").textContent = told
  const circle = now.unclipped ? "" : `, and a circle of radius ${short(now.radius)} that clips them`
  const seen = `${now.points.length} records around the true mean${circle}.`
  picture.canvas.records.setAttribute("aria-label", seen)
  picture.canvas.means.setAttribute("aria-label", `The cloud of possible releases. ${told}`)
  // No use where the record is there already: no other place moves the average more.
  const most = (Math.min(length(now.points[0]), now.radius) + now.radius) / now.n
  const worst = now.moved && distance(now.moved, now.release) > 0.999 * most
  picture.find("[name=worst]").hidden = !now.moved || now.unclipped || worst
  picture.find("[name=change]").setAttribute("aria-pressed", String(Boolean(now.moved)))
}
