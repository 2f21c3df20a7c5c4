// Whether our figures keep the goals of a case.

const units = { time: 'ms', memory: 'MB', stall: 'ms', output: 'characters' };

/**
 * A quick run compares the best times: they hardly depend on what else the machine does.
 * @returns {{ text: string, isMet: boolean }[]}
 */
export function judge({ goals, unit = '' }, results, { isQuick }) {
  return goals.flatMap(({ metric, who = 'lathe', than, limit, guard }) => {
    const bound = isQuick ? guard : limit;
    const figure = (result) =>
      isQuick && metric === 'time' && result?.times ? Math.min(...result.times) : result?.[metric];
    const ours = figure(results[who]);
    const theirs = than === undefined ? undefined : figure(results[than]);
    if (bound === undefined || (than !== undefined && theirs === undefined)) return [];
    const name = who === 'lathe' ? metric : `${metric} (${who})`;
    if (ours === undefined) return [{ text: `${name}: ${results[who]?.missing ?? 'not measured'}`, isMet: false }];
    if (!results[who].isRight) return [{ text: `${name}: the answer is wrong`, isMet: false }];
    const value = than === undefined ? ours : ours / theirs;
    const of = than === undefined ? ` ${units[metric] ?? unit}` : ` × ${than}`;
    return [{ text: `${name} ${round(value)}${of} (at most ${bound})`, isMet: value <= bound }];
  });
}

export function round(value) {
  if (value >= 100) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(value < 0.1 ? 1 : 3)));
}
