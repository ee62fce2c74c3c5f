import type { TotpSetup } from '@svc/contracts';
import { qrSvg } from '@svc/kernel';
import { PostForm } from '../layout/form-elements.js';
import { Notice, renderDocument } from '../layout/layout.js';
import { NewPasskeyForm } from '../passkeys/passkey-form.js';
import type { Viewer } from '../viewer/viewer.js';
import { CodeField } from './sign-in-page.js';

interface SecondFactorPage {
  readonly viewer: Viewer;
  readonly setup: TotpSetup;
  /** See `PasskeyOrigin`. */
  readonly origin: string | undefined;
  readonly problem?: string;
}

export function renderSecondFactorPage({ viewer, setup, origin, problem }: SecondFactorPage): string {
  const { texts, csrfToken } = viewer;
  const { secondFactor } = texts;
  return renderDocument({
    title: secondFactor.title,
    texts,
    viewer,
    children: (
      <section class="card form">
        <h1>{secondFactor.title}</h1>
        <p>{secondFactor.why}</p>
        {problem === undefined ? null : <Notice kind="problem">{problem}</Notice>}
        <h2>{secondFactor.scan}</h2>
        <div class="qr" dangerouslySetInnerHTML={{ __html: qrSvg(setup.uri, secondFactor.qrLabel) }} />
        <p>
          {secondFactor.type} <code class="key">{setup.secret.replace(/(.{4})(?=.)/g, '$1 ')}</code>
        </p>
        <PostForm viewer={viewer} action="/account/second-factor">
          <input type="hidden" name="secret" value={setup.secret} />
          <input type="hidden" name="uri" value={setup.uri} />
          <CodeField label={secondFactor.code} />
          <button>{secondFactor.submit}</button>
        </PostForm>
        {origin === undefined ? null : <h2>{secondFactor.orPasskey}</h2>}
        <NewPasskeyForm {...{ texts, origin, csrfToken }} name={texts.passkeys.defaultName} />
        {origin === undefined ? null : (
          <p class="small" data-no-passkeys>
            {secondFactor.noPasskey}
          </p>
        )}
      </section>
    ),
  });
}
