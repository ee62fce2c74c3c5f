import { MAX_EMAIL_LENGTH, MAX_PASSWORD_LENGTH, TOTP_DIGITS } from '@svc/contracts';
import type { Texts } from '../languages/en/en.js';
import { Notice, renderDocument } from '../layout/layout.js';
import { PasskeyForm } from '../passkeys/passkey-form.js';

export interface SignInPage {
  readonly texts: Texts;
  /** See `PasskeyOrigin`. */
  readonly origin: string | undefined;
  /** Where the person goes after the sign-in. */
  readonly next: string;
  readonly email?: string;
  readonly problem?: string;
  readonly done?: string;
}

export function renderSignInPage({ texts, origin, next, email = '', problem, done }: SignInPage): string {
  const { signIn } = texts;
  return renderDocument({
    title: signIn.title,
    texts,
    children: (
      <section class="card">
        <h1>{signIn.title}</h1>
        {problem === undefined ? null : <Notice kind="problem">{problem}</Notice>}
        {done === undefined ? null : <Notice kind="done">{done}</Notice>}
        <form method="post" action="/sign-in">
          <input type="hidden" name="next" value={next} />
          <label>
            {signIn.email}
            <input
              name="email"
              type="email"
              autocomplete="username"
              required
              maxlength={MAX_EMAIL_LENGTH}
              value={email}
            />
          </label>
          <PasswordField label={signIn.password} />
          <button>{signIn.next}</button>
        </form>
        <PasskeyForm
          {...{ texts, origin }}
          use="get"
          challenge="/sign-in/passkey/challenge"
          action="/sign-in/passkey"
          button={signIn.withPasskey}
        >
          <input type="hidden" name="next" value={next} />
        </PasskeyForm>
        <p class="small">{signIn.lost}</p>
        {isLocal(origin) ? <p class="small">{signIn.forDemo}</p> : null}
      </section>
    ),
  });
}

interface CodePage {
  readonly texts: Texts;
  readonly next: string;
  readonly signInToken: string;
  readonly problem?: string;
}

export function renderCodePage({ texts, next, signInToken, problem }: CodePage): string {
  const { signIn } = texts;
  return renderDocument({
    title: signIn.codeTitle,
    texts,
    children: (
      <section class="card">
        <h1>{signIn.codeTitle}</h1>
        {problem === undefined ? null : <Notice kind="problem">{problem}</Notice>}
        <form method="post" action="/sign-in/code">
          <input type="hidden" name="next" value={next} />
          <input type="hidden" name="signInToken" value={signInToken} />
          <CodeField label={signIn.code} />
          <button>{signIn.submitCode}</button>
        </form>
        <p class="small">
          <a href="/sign-in">{signIn.again}</a>
        </p>
      </section>
    ),
  });
}

/** The field for the password of the person. */
export function PasswordField({ label }: { label: string }) {
  return (
    <label>
      {label}
      <input name="password" type="password" autocomplete="current-password" required maxlength={MAX_PASSWORD_LENGTH} />
    </label>
  );
}

/** The field for the code of an authenticator app. */
export function CodeField({ label }: { label: string }) {
  return (
    <label>
      {label}
      <input
        name="code"
        inputmode="numeric"
        autocomplete="one-time-code"
        pattern={`[0-9 ]{${TOTP_DIGITS},${TOTP_DIGITS + 1}}`}
        required
        autofocus
      />
    </label>
  );
}

export function renderLinkPage({ texts, token }: { texts: Texts; token: string }): string {
  const { signIn } = texts;
  return renderDocument({
    title: signIn.title,
    texts,
    children: (
      <section class="card">
        <h1>{signIn.title}</h1>
        <p>{signIn.byLink}</p>
        <form method="post" action={`/sign-in/links/${encodeURIComponent(token)}`}>
          <button>{signIn.title}</button>
        </form>
      </section>
    ),
  });
}

/** True in development: `./svc up` opens the console at this machine. */
const isLocal = (origin: string | undefined): boolean =>
  origin !== undefined && new URL(origin).hostname === 'localhost';
