import { MAX_PASSKEY_NAME_LENGTH } from '@svc/contracts';
import type { ComponentChildren } from 'preact';
import type { Texts } from '../languages/en/en.js';
import { ASSETS } from '../layout/console-assets.js';

interface PasskeyForm {
  readonly texts: Texts;
  /** See `PasskeyOrigin`. */
  readonly origin: string | undefined;
  /** `get` uses a passkey, `create` registers one. */
  readonly use: 'get' | 'create';
  /** Path that creates the challenge. */
  readonly challenge: string;
  /** Path that gets the answer of the browser. */
  readonly action: string;
  readonly button: string;
  readonly csrfToken?: string;
  /** Further fields. */
  readonly children?: ComponentChildren;
}

/**
 * A form that a passkey fills in. It is hidden until the script has seen that the browser has passkeys, and that the page
 * was opened at the address for which they are created.
 */
export function PasskeyForm({ texts, origin, use, challenge, action, button, csrfToken, children }: PasskeyForm) {
  if (origin === undefined) return null;
  return (
    <div hidden data-passkeys={origin}>
      <p>{use === 'create' ? texts.passkeys.explanation : texts.passkeys.use}</p>
      <p class="notice problem" role="alert" hidden>
        {texts.passkeys.failed}
      </p>
      <form method="post" action={action} data-use={use} data-challenge={challenge}>
        {csrfToken === undefined ? null : <input type="hidden" name="csrf" value={csrfToken} />}
        <input type="hidden" name="challengeToken" />
        <input type="hidden" name="response" />
        {children}
        <button>{button}</button>
      </form>
      <script src={ASSETS.get('passkeys.js')!.path} defer />
    </div>
  );
}

/** Registers a passkey for the person who is signed in. */
export function NewPasskeyForm({
  texts,
  origin,
  csrfToken,
  name,
}: Pick<PasskeyForm, 'texts' | 'origin'> & { csrfToken: string; name: string }) {
  return (
    <PasskeyForm
      {...{ texts, origin, csrfToken }}
      use="create"
      challenge="/account/passkeys/challenge"
      action="/account/passkeys"
      button={texts.passkeys.create}
    >
      <label>
        {texts.passkeys.name}
        <input name="name" required maxlength={MAX_PASSKEY_NAME_LENGTH} value={name} />
      </label>
    </PasskeyForm>
  );
}
