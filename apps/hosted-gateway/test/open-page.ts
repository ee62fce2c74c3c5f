/**
 * Opens a payment page in a DOM without a browser, so that specs of the page's script take milliseconds. The globals of
 * the browser are replaced until the next call. The test environment restores them after each file.
 *
 * Name a spec with this DOM after a behaviour. Beside a spec with its own name, Stryker would treat a file as pure and
 * mutate all of it, although the tests with a browser (e2e) cover most of it.
 */
import { Window } from 'happy-dom';
import { scriptMessages } from '../browser/script-messages.js';
import { en } from '../src/languages/en.js';
import type { PayablePage, PayPageModel } from '../src/page-views/pay-page-model.js';
import { openPage, order, renderHtml } from './pages.js';

export const RENDERED_AT = new Date(openPage.renderedAt);

/** The calls of the script that leave the page. */
export interface Navigation {
  /** Called by a reload, with the address of the page. */
  readonly replace: jest.Mock<void, [string]>;
  readonly assign: jest.Mock<void, [string]>;
}

/**
 * Renders the page and sets the globals that the script reads. Import the script's modules dynamically afterwards,
 * because they read the document when they are loaded. Every call loads them again.
 */
export function openInDom(model: PayPageModel): Navigation {
  jest.resetModules();
  const window = new Window({ url: `https://pay.example${order.callsPath}` });
  // The test loads the modules of the script itself.
  window.document.write(renderHtml(model).replace(/<script>.*?<\/script>/s, ''));
  // happy-dom has no stop().
  Object.assign(window, { stop: () => undefined });
  const navigation: Navigation = { replace: jest.fn<void, [string]>(), assign: jest.fn<void, [string]>() };
  const { href, pathname, search, protocol } = window.location;
  const globals = {
    window,
    document: window.document,
    Element: window.Element,
    InputEvent: window.InputEvent,
    location: { href, pathname, search, protocol, ...navigation },
    navigator: { onLine: true, language: 'en' },
    screen: window.screen,
    EventSource: undefined,
    SCRIPT_MESSAGES: scriptMessages(en),
  };
  for (const [name, value] of Object.entries(globals))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  return navigation;
}

/** The page with the card form, with a key that can encrypt cards. */
export async function buildFormPage(overrides: Partial<PayablePage> = {}): Promise<PayablePage> {
  const algorithm = { name: 'ECDH', namedCurve: 'P-256' };
  const { publicKey } = await crypto.subtle.generateKey(algorithm, true, ['deriveBits']);
  const { x, y } = await crypto.subtle.exportKey('jwk', publicKey);
  return { ...openPage, encryptionKey: { kty: 'EC', crv: 'P-256', x: x!, y: y!, kid: 'card-1' }, ...overrides };
}

export function findInput(id: string): HTMLInputElement {
  return document.getElementById(id) as HTMLInputElement;
}

export function readText(id: string): string {
  return document.getElementById(id)?.textContent ?? '';
}
