/**
 * The view of a payment in progress. Screen readers announce every change of the live region, so equal text is not
 * written again.
 */
import { messages } from '../messages.js';
import { byId } from './document-parts.js';

const { processing } = messages;

export function showProcessing(isProcessing: boolean): void {
  // The class hides the form but leaves its space in the layout, so that nothing moves when the payer presses Pay.
  byId('ways').classList.toggle('away', isProcessing);
  showStoreLink(!isProcessing);
  byId('processing-view').hidden = !isProcessing;
  byId('processing-late').hidden = true;
  showStatus(processing.heading, processing.note);
  if (isProcessing) byId('processing-heading').focus();
}

/**
 * Hides the link to the store during a payment, because the store would show an unpaid order while the bank may still
 * approve the charge.
 */
export function showStoreLink(isShown: boolean): void {
  document.querySelector('nav')?.classList.toggle('away', !isShown);
}

export function showStatus(heading: string, note: string): void {
  // Does not replace the notice that the payment takes longer than usual.
  if (!byId('processing-late').hidden) return;
  const [shownHeading, shownNote] = [byId('processing-heading'), byId('processing-note')];
  // Screen readers announce every change of a live region.
  if (shownHeading.textContent !== heading) shownHeading.textContent = heading;
  if (shownNote.textContent !== note) shownNote.textContent = note;
}

/** Shows that the payment takes longer than usual, and that the payer must not pay again. */
export function showLateNotice(): void {
  const heading = byId('processing-heading');
  if (heading.textContent === processing.lateHeading) return;
  heading.textContent = processing.lateHeading;
  byId('processing-late').hidden = false;
  showStillChecking();
}

export function showStillChecking(): void {
  const note = document.getElementById('processing-note');
  if (!note) return;
  // Screen readers announce every change of a live region.
  if (note.textContent !== processing.stillChecking) note.textContent = processing.stillChecking;
}
