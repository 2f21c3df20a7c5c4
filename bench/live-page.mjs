import { chromium } from 'playwright-core';

/** Counts in the page itself how long each event took: until the script has it, and until the frame that shows it. */
const watch = () => {
  const found = (window.delays = { script: [], frame: [], isOpen: false, isDone: false });
  const { fetch } = window;
  window.fetch = async (...args) => {
    const response = await fetch(...args);
    if (typeof args[0] !== 'string' || !args[0].endsWith('/events') || !response.body) return response;
    found.isOpen = true;
    const count = new TransformStream({
      transform(bytes, controller) {
        controller.enqueue(bytes);
        const text = new TextDecoder().decode(bytes);
        for (const [, time] of text.matchAll(/^data: \{"time":(\d+)/gm)) {
          found.script.push(Date.now() - time);
          // The page draws in the next frame, and a task after it means that the frame was drawn.
          requestAnimationFrame(() => setTimeout(() => found.frame.push(Date.now() - time)));
        }
        if (text.includes('"type":"prompt-end"')) found.isDone = true;
      },
    });
    return new Response(response.body.pipeThrough(count), response);
  };
};

/** Opens the live page of a server. `delays` are those of all events until the prompt has ended. */
export async function openLivePage(address) {
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  });
  const page = await browser.newPage();
  await page.addInitScript(watch);
  await page.goto(address);
  // What happens before somebody follows is sent later, and says nothing about the delay.
  await page.waitForFunction(() => window.delays.isOpen);
  return {
    delays: async () => {
      await page.waitForFunction(() => window.delays.isDone, undefined, { timeout: 100_000 });
      await page.waitForTimeout(200);
      const { script, frame } = await page.evaluate(() => window.delays);
      return { script: script.toSorted((a, b) => a - b), frame: frame.toSorted((a, b) => a - b) };
    },
    close: () => browser.close(),
  };
}
