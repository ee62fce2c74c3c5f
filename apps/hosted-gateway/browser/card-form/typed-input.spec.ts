import { findInput, openInDom } from '../../test/open-page.js';
import { openPage } from '../../test/pages.js';

async function startForm(): Promise<void> {
  openInDom(openPage);
  const { CardForm } = await import('./card-form.js');
  const { messages } = await import('../messages.js');
  new CardForm(() => new Date(openPage.renderedAt), messages).start(
    () => undefined,
    () => true,
  );
}

/** Changes the text of a field as an edit of the payer does. Returns the text after the event. */
function edit(id: string, text: string, event: { inputType: string; isComposing?: boolean }): string {
  const input = findInput(id);
  input.value = text;
  input.setSelectionRange(text.length, text.length);
  input.dispatchEvent(new InputEvent('input', event));
  return input.value;
}

describe('CardForm', () => {
  beforeEach(startForm);

  it('formats a field while the payer types, but not after a deletion until the payer leaves the field', () => {
    expect(edit('card-number', '42424', { inputType: 'insertText' })).toBe('4242 4');
    expect(edit('card-number', '42424', { inputType: 'deleteContentBackward' })).toBe('42424');
    findInput('card-number').dispatchEvent(new window.Event('blur'));
    expect(findInput('card-number').value).toBe('4242 4');
  });

  it('does not format text that an input method is composing', () => {
    expect(edit('card-number', '42424', { inputType: 'insertText', isComposing: true })).toBe('42424');
  });

  it('formats a field that the browser has filled in', () => {
    const input = findInput('card-number');
    input.value = '4242424242424242';
    input.dispatchEvent(new window.Event('input'));
    expect(input.value).toBe('4242 4242 4242 4242');
  });
});
