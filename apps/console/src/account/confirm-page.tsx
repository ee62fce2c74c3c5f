import { PostForm } from '../layout/form-elements.js';
import { Notice, renderDocument } from '../layout/layout.js';
import { PasskeyForm } from '../passkeys/passkey-form.js';
import { CodeField, PasswordField } from '../sign-in/sign-in-page.js';
import type { Viewer } from '../viewer/viewer.js';

interface ConfirmPage {
  readonly viewer: Viewer;
  /** See `PasskeyOrigin`. */
  readonly origin: string | undefined;
  /** The page to which the person returns. */
  readonly next: string;
  readonly problem?: string;
}

/** Asks the person again, with the second factors that the person has. */
export function renderConfirmPage({ viewer, origin, next, problem }: ConfirmPage): string {
  const { texts, csrfToken, session } = viewer;
  const { confirm, signIn } = texts;
  const hasTotp = session.secondFactors.includes('totp');
  return renderDocument({
    title: confirm.title,
    texts,
    viewer,
    children: (
      <section class="card form">
        <h1>{confirm.title}</h1>
        <p>{confirm.why}</p>
        {problem === undefined ? null : <Notice kind="problem">{problem}</Notice>}
        {session.secondFactors.includes('passkey') ? (
          <PasskeyForm
            {...{ texts, origin, csrfToken }}
            use="get"
            challenge="/sign-in/passkey/challenge"
            action="/account/confirm"
            button={confirm.withPasskey}
          >
            <input type="hidden" name="next" value={next} />
          </PasskeyForm>
        ) : null}
        {hasTotp ? (
          <PostForm viewer={viewer} action="/account/confirm">
            <input type="hidden" name="next" value={next} />
            <PasswordField label={signIn.password} />
            <CodeField label={signIn.code} />
            <button>{confirm.submit}</button>
          </PostForm>
        ) : (
          <p class="small">{confirm.passkeyOnly}</p>
        )}
        <p class="small">
          <a href={next}>{confirm.back}</a>
        </p>
      </section>
    ),
  });
}
