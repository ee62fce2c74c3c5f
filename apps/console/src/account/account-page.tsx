import type { PersonSessionEntry, SecondFactorList } from '@svc/contracts';
import { fill } from '../languages/fill.js';
import type { MerchantClock } from '../languages/format.js';
import { LANGUAGES } from '../languages/languages.js';
import { SET_UP_PATH } from '../layout/error-page.filter.js';
import { PostForm } from '../layout/form-elements.js';
import { FactList, Notice, renderDocument } from '../layout/layout.js';
import { NewPasskeyForm } from '../passkeys/passkey-form.js';
import type { Viewer } from '../viewer/viewer.js';

/** The messages after a form. */
export const ACCOUNT_DONE = ['passkey', 'removed', 'sessions'] as const;
export type AccountDone = (typeof ACCOUNT_DONE)[number];

interface AccountPage {
  readonly viewer: Viewer;
  readonly clock: MerchantClock;
  readonly secondFactors: SecondFactorList;
  readonly sessions: readonly PersonSessionEntry[];
  /** See `PasskeyOrigin`. */
  readonly origin: string | undefined;
  readonly done?: AccountDone | undefined;
  readonly problem?: string | undefined;
}

export function renderAccountPage(page: AccountPage): string {
  const { viewer, done, problem } = page;
  const { texts, session } = viewer;
  const { account } = texts;
  return renderDocument({
    title: account.title,
    texts,
    viewer,
    children: (
      <>
        <h1>{account.title}</h1>
        {problem === undefined ? null : <Notice kind="problem">{problem}</Notice>}
        {done === undefined ? null : <Notice kind="done">{account.done[done]}</Notice>}
        <div class="columns">
          <section class="card">
            <h2>{account.you}</h2>
            <FactList>
              {[
                [account.name, session.name],
                [texts.signIn.email, session.email],
                [
                  account.language,
                  LANGUAGES.map(({ tag, name }) =>
                    tag === texts.tag ? (
                      <strong>{name} </strong>
                    ) : (
                      <a href={`/language/${tag}?next=/account`} lang={tag} hreflang={tag}>
                        {name}
                      </a>
                    ),
                  ),
                ],
              ]}
            </FactList>
          </section>
          <SecondFactors {...page} />
        </div>
        <Sessions {...page} />
      </>
    ),
  });
}

function SecondFactors({ viewer, clock, secondFactors: { totp, passkeys }, origin }: AccountPage) {
  const { texts, csrfToken } = viewer;
  const { account } = texts;
  const isLast = passkeys.length + (totp ? 1 : 0) === 1;
  const remove = (factor: string, name: string) =>
    isLast ? null : (
      <PostForm viewer={viewer} action="/account/second-factors/remove">
        <input type="hidden" name="factor" value={factor} />
        <button class="small" aria-label={fill(account.removeNamed, { name })}>
          {account.remove}
        </button>
      </PostForm>
    );
  return (
    <section class="card">
      <h2>{account.secondFactors}</h2>
      <ul class="choices">
        {totp ? (
          <li>
            <strong>{account.totp}</strong>
            <small>{fill(account.since, { time: clock.format(totp.createdUTCDate) })}</small>
            {remove('totp', account.totp)}
          </li>
        ) : null}
        {passkeys.map(({ passkeyId, name, createdUTCDate, lastUsedUTCDate }) => (
          <li>
            <strong>{fill(account.passkey, { name })}</strong>
            <small>{fill(account.since, { time: clock.format(createdUTCDate) })}</small>
            {lastUsedUTCDate === undefined ? null : (
              <small>{fill(account.lastUsed, { time: clock.format(lastUsedUTCDate) })}</small>
            )}
            {remove(passkeyId, name)}
          </li>
        ))}
      </ul>
      {isLast ? <p class="small">{account.onlyFactor}</p> : null}
      <p>
        <a href={SET_UP_PATH}>{totp ? account.replaceTotp : account.addTotp}</a>
      </p>
      <NewPasskeyForm {...{ texts, origin, csrfToken }} name={texts.passkeys.defaultName} />
    </section>
  );
}

function Sessions({ viewer, clock, sessions }: AccountPage) {
  const { texts } = viewer;
  const { account } = texts;
  const end = (session: string, label: string, description?: string) => (
    <PostForm viewer={viewer} action="/account/sessions">
      <input type="hidden" name="session" value={session} />
      <button class="small" aria-label={description}>
        {label}
      </button>
    </PostForm>
  );
  return (
    <section class="card">
      <h2>{account.sessions}</h2>
      <table class="payments">
        <thead>
          <tr>
            <th scope="col">{account.device}</th>
            <th scope="col">{account.address}</th>
            <th scope="col">{account.method}</th>
            <th scope="col">{account.started}</th>
            <th scope="col">{account.end}</th>
          </tr>
        </thead>
        <tbody>
          {sessions.map(({ sessionId, device, method, startedUTCDate, current }) => {
            const [name, time] = [device?.name ?? account.unknown, clock.format(startedUTCDate)];
            return (
              <tr>
                <td>{name}</td>
                <td>{device?.address ?? account.unknown}</td>
                <td>{account.methods[method]}</td>
                <td>
                  <time datetime={startedUTCDate}>{time}</time>
                </td>
                <td>
                  {current ? (
                    <strong>{account.current}</strong>
                  ) : (
                    end(sessionId, account.end, fill(account.endNamed, { name, time }))
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {sessions.length > 1 ? end('others', account.endOthers) : null}
    </section>
  );
}
