/** Measures how visible the focus ring is (WCAG 1.4.11, 2.4.7). */
import type { Page } from 'playwright-core';

export interface FocusRing {
  /** Id of the element that has the ring, or its text if it has no id. */
  readonly of: string;
  /** CSS pixels. */
  readonly width: number;
  /** Lowest contrast of the ring to the colours beside it: outside, and in the gap between ring and element. */
  readonly contrast: number;
}

/** The rings of all elements that the keyboard reaches, in tab order. */
export async function focusRings(page: Page): Promise<FocusRing[]> {
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  const rings = new Map<string, FocusRing>();
  // After the last element the focus moves to the browser itself, then to the first element.
  // So one round visits all elements, wherever it starts.
  for (let times = 0; times < 2;) {
    await page.keyboard.press('Tab');
    const ring = await page.evaluate(ringOfFocused);
    if (ring === undefined) times++;
    else if (rings.has(ring.of)) break;
    else rings.set(ring.of, ring);
  }
  return [...rings.values()];
}

/** Runs in the page. Undefined when no element of the page has the focus. */
export function ringOfFocused(): FocusRing | undefined {
  const element = document.activeElement;
  if (!element || element === document.body) return undefined;
  // A running transition is finished first, because its end colour counts.
  for (const animation of document.getAnimations()) if (animation instanceof CSSTransition) animation.finish();
  /** Red, green, blue and opacity as the browser computes them. */
  const channels = (colour: string): number[] => {
    const [red = 0, green = 0, blue = 0, opacity = 1] = (colour.match(/[\d.]+/g) ?? []).map(Number);
    return [red, green, blue, opacity];
  };
  const luminance = (colour: string): number => {
    const [red, green, blue] = channels(colour).map((channel) => {
      const part = channel / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    }) as [number, number, number];
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (one: string, other: string): number => {
    const [darker, lighter] = [luminance(one), luminance(other)].toSorted((a, b) => a - b) as [number, number];
    return (lighter + 0.05) / (darker + 0.05);
  };
  const backgroundOf = (start: Element | null): string => {
    for (let at = start; at; at = at.parentElement) {
      const { backgroundColor } = getComputedStyle(at);
      if (channels(backgroundColor)[3] === 1) return backgroundColor;
    }
    return 'rgb(255, 255, 255)';
  };
  const { outlineColor, outlineStyle, outlineWidth, outlineOffset } = getComputedStyle(element);
  // With a gap, the parent's background is on both sides of the ring. Without a gap, the element's own
  // background is on the inner side.
  const backgrounds = [
    backgroundOf(element.parentElement),
    ...(parseFloat(outlineOffset) > 0 ? [] : [backgroundOf(element)]),
  ];
  const isOpaque = channels(outlineColor)[3] === 1;
  return {
    of: element.id || element.textContent.trim(),
    width: outlineStyle === 'none' || !isOpaque ? 0 : parseFloat(outlineWidth),
    contrast: Math.min(...backgrounds.map((background) => contrast(outlineColor, background))),
  };
}
