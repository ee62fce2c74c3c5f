/** What the page says while a payment is on its way. A live region reads out every change, so each is written once. */
import { byId } from './document-parts.js';
import { messages } from '../messages.js';

const { processing } = messages;

export function showProcessing(isProcessing: boolean): void {
  // Unseen and out of reach, but in its place: nothing jumps when Pay is pressed.
  byId('ways').classList.toggle('away', isProcessing);
  showWayBack(!isProcessing);
  byId('processing-view').hidden = !isProcessing;
  byId('processing-late').hidden = true;
  say(processing.heading, processing.note);
  if (isProcessing) byId('processing-heading').focus();
}

/** Nothing leads away while money may move: the store would show an order that is not paid, and the bank may still approve the charge. */
export function showWayBack(isShown: boolean): void {
  document.querySelector('nav')?.classList.toggle('away', !isShown);
}

export function say(heading: string, note: string): void {
  // That it takes long is not taken back while it goes on.
  if (!byId('processing-late').hidden) return;
  const [shownHeading, shownNote] = [byId('processing-heading'), byId('processing-note')];
  // Written once: a live region reads out every change.
  if (shownHeading.textContent !== heading) shownHeading.textContent = heading;
  if (shownNote.textContent !== note) shownNote.textContent = note;
}

/** Waiting is over when the server says so; until then nobody should pay again. */
export function sayLate(): void {
  const heading = byId('processing-heading');
  if (heading.textContent === processing.lateHeading) return;
  heading.textContent = processing.lateHeading;
  byId('processing-late').hidden = false;
  sayStillChecking();
}

export function sayStillChecking(): void {
  const note = document.getElementById('processing-note');
  if (!note) return;
  // Written once: a live region reads out every change.
  if (note.textContent !== processing.stillChecking) note.textContent = processing.stillChecking;
}
