/** The view while the browser solves a challenge. */
import { fill } from '../../src/languages/fill.js';
import { messages } from '../messages.js';
import { byId } from './document-parts.js';

/** Screen readers announce the progress after each such share, so that they are not busy all the time. */
const ANNOUNCED_SHARE = 0.25;

let announced = 0;

/** Shows the progress, unless the challenge is solved in the background. @param share 0 to 1 */
export function showChallengeProgress(share: number): void {
  if (byId('challenge-view').hidden) return;
  byId<HTMLProgressElement>('challenge-progress').value = share;
  const step = Math.floor(share / ANNOUNCED_SHARE);
  if (step > announced) announce(fill(messages.challenge.progress, { percent: step * ANNOUNCED_SHARE * 100 }));
  announced = step;
}

/** Replaces the view by the form, when the challenge in the page is solved. */
export function showFormAfterChallenge(): void {
  hideChallenge();
  announce(messages.challenge.done);
}

/** Replaces the view by the form, if the page has a challenge. */
export function hideChallenge(): void {
  byId('challenge-view').hidden = true;
  byId('ways').classList.remove('away');
}

/** Shows the view in place of the view of a payment in progress, or hides it. */
export function showChallengeDuringPayment(isShown: boolean): void {
  byId('processing-view').hidden = isShown;
  byId('challenge-view').hidden = !isShown;
  byId(isShown ? 'challenge-heading' : 'processing-heading').focus();
  announce('');
}

function announce(text: string): void {
  byId('challenge-status').textContent = text;
}
