import { en } from '../languages/en/en.js';
import { readLookForm } from './look-form.js';
import { describeColours } from './look-page.js';

test('an empty form is the look of the platform', () => {
  expect(readLookForm({})).toEqual({
    draft: { settings: {}, removesLogo: false },
    version: 0,
    isLogoOfPreview: true,
    problem: undefined,
  });
});

test('a text that is too long is a problem of its field', () => {
  expect(readLookForm({ termsUrl: `https://${'x'.repeat(500)}` }).problem).toBe('termsUrl');
});

test('a colour without its box is not used, and a box without a colour is refused later', () => {
  expect(readLookForm({ accentColour: '#ffcc00' }).draft.settings).toEqual({});
  expect(readLookForm({ hasColour: '1' }).draft.settings).toEqual({ accentColour: '' });
});

test.each(['not base64!', 'A'.repeat(150_001)])('a logo of a preview that is not one is ignored', (draftLogo) => {
  expect(readLookForm({ draftLogo }).draft).not.toHaveProperty('logo');
});

test.each(['-1', '1.5', '9'.repeat(16), 'x'])('the version "%s" is none', (version) => {
  expect(readLookForm({ version }).version).toBe(0);
});

describe('the sentences about a colour', () => {
  const words = en.look.colours;
  const describeFor = (linksOnLight: string, linksOnDark: string, buttonText = '#ffffff'): string[] =>
    describeColours(words, { buttonText, linksOnLight, linksOnDark }, '#0a7d4f');

  it('say that links have the colour itself', () => {
    expect(describeFor('#0a7d4f', '#0a7d4f')).toEqual([words.button['#ffffff'], words.unchanged]);
  });

  it('say how links are darkened and lightened', () => {
    expect(describeFor('#000001', '#fffffe', '#000000')).toEqual([
      'The text on the button is black.',
      'Your colour is darkened to #000001 on links, so that it can be read.',
      'With a dark background your colour is lightened to #fffffe on links, so that it can be read.',
    ]);
  });
});
