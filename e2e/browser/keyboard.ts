/** Walks through a page with the tab key, as a person without a pointer does. */
import type { Page } from 'playwright-core';
import { ringOfFocused } from './focus-ring.js';

export interface KeyboardWalk {
  /** Visible controls that the tab key does not reach. */
  readonly unreached: string[];
  /** Controls without a visible ring while they have the focus (WCAG 2.4.7, 1.4.11). */
  readonly weakRings: string[];
}

const MIN_CONTRAST = 3;

export async function tabThroughPage(page: Page): Promise<KeyboardWalk> {
  const names = await page.evaluate(findControls);
  const reached = new Set<number>();
  const weakRings: string[] = [];
  // The browser itself has the focus between the last and the first control, so after the second time all were visited. A
  // date has several parts, each with a tab stop.
  for (let rounds = 0, presses = 0; rounds < 2 && presses < 4 * names.length + 4; presses++) {
    await page.keyboard.press('Tab');
    const index = await page.evaluate(() =>
      (globalThis as unknown as { controls: Element[] }).controls.indexOf(document.activeElement!),
    );
    if (index < 0) rounds++;
    if (index < 0 || reached.has(index)) continue;
    reached.add(index);
    const ring = await page.evaluate(ringOfFocused);
    if (ring && (ring.width < 1 || ring.contrast < MIN_CONTRAST)) weakRings.push(names[index]!);
  }
  return { unreached: names.filter((_, index) => !reached.has(index)), weakRings };
}

/**
 * Runs in the page. Remembers the controls that a person sees, and returns their names. A mark in the elements would be a
 * change of a live list, which its next event would undo by replacing the list.
 */
function findControls(): string[] {
  const selector = 'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex="0"]';
  const controls = [...document.querySelectorAll<HTMLElement>(selector)].filter(
    (element) =>
      element.checkVisibility({ visibilityProperty: true }) &&
      !element.matches(':disabled, [tabindex="-1"]') &&
      // Of a group of radio buttons, the tab key reaches the chosen one.
      !element.matches('input[type=radio]:not(:checked)'),
  );
  Object.assign(globalThis, { controls });
  return controls.map(
    ({ tagName, id, textContent }) => `${tagName.toLowerCase()} ${(id || textContent.trim()).slice(0, 60)}`,
  );
}
