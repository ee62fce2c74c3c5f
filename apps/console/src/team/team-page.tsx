import {
  type CreatedInvitation,
  INVITATION_PATH,
  MAX_EMAIL_LENGTH,
  type PeopleList,
  type PersonEntry,
  type Role,
  ROLES,
} from '@svc/contracts';
import { fill } from '../languages/fill.js';
import { PostForm } from '../layout/form-elements.js';
import { Notice, pathOf, renderDocument } from '../layout/layout.js';
import { siteName } from '../viewer/sites.js';
import { canAnywhere, type MerchantViewer } from '../viewer/viewer.js';

/** The messages after a form. */
export const TEAM_DONE = ['invited', 'withdrawn', 'changed', 'removed', 'reset'] as const;
export type TeamDone = (typeof TEAM_DONE)[number];

export interface TeamMessage {
  readonly done?: TeamDone | undefined;
  readonly problem?: string;
  /** An invitation whose link the person passes on. */
  readonly invitation?: CreatedInvitation;
  /** The input in the form of the invitation, after a refusal. */
  readonly typed?: { readonly email: string; readonly role: Role | undefined; readonly place: string };
}

interface TeamPage extends TeamMessage {
  readonly viewer: MerchantViewer;
  readonly list: PeopleList;
  /** Id of the next invitation, so that a double click is one invitation. */
  readonly invitationId: string;
  readonly consoleUrl: string;
}

export function renderTeamPage(page: TeamPage): string {
  const { viewer, list, done, problem, invitation, consoleUrl } = page;
  const { texts } = viewer;
  const { team } = texts;
  return renderDocument({
    title: team.title,
    texts,
    viewer,
    current: 'team',
    children: (
      <>
        <h1>{team.title}</h1>
        {done === undefined ? null : <Notice kind="done">{team.done[done]}</Notice>}
        {problem === undefined ? null : <Notice kind="problem">{problem}</Notice>}
        {invitation?.invitationToken === undefined ? null : (
          <Notice kind="done">
            {team.link} <code>{`${consoleUrl}${INVITATION_PATH}${invitation.invitationToken}`}</code>
          </Notice>
        )}
        <People {...{ viewer, people: list.people }} />
        <div class="columns">
          <Invitations {...{ viewer, invitations: list.invitations }} />
          {canAnywhere(viewer, 'people.manage') ? <InvitationForm {...page} /> : null}
        </div>
      </>
    ),
  });
}

function People({ viewer, people }: { viewer: MerchantViewer; people: readonly PersonEntry[] }) {
  const { texts, clock } = viewer;
  const { team } = texts;
  return (
    <section class="card">
      <h2>{team.people}</h2>
      <table class="payments">
        <thead>
          <tr>
            <th scope="col">{team.name}</th>
            <th scope="col">{texts.signIn.email}</th>
            <th scope="col">{team.role}</th>
            <th scope="col">{team.factors}</th>
            <th scope="col">{team.lastSignIn}</th>
          </tr>
        </thead>
        <tbody>
          {people.map(({ personId, name, email, roles, secondFactors, lastSignInUTCDate }) => (
            <tr>
              <td>
                <a class="order" href={`${pathOf(viewer)}/team/${personId}`}>
                  {name}
                </a>
              </td>
              <td class="order">{email}</td>
              <td>
                {roles.map(({ role, siteId }) => (
                  <div>{fill(team.roleAt, { role: texts.roles[role], place: placeName(viewer, siteId) })}</div>
                ))}
              </td>
              <td>
                {secondFactors.length === 0 ? team.noFactor : secondFactors.map((factor) => team[factor]).join(', ')}
              </td>
              <td>
                {lastSignInUTCDate === undefined ? (
                  team.never
                ) : (
                  <time datetime={lastSignInUTCDate}>{clock.format(lastSignInUTCDate)}</time>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Invitations({ viewer, invitations }: { viewer: MerchantViewer } & Pick<PeopleList, 'invitations'>) {
  const { texts, clock } = viewer;
  const { team } = texts;
  return (
    <section class="card">
      <h2>{team.invitations}</h2>
      {invitations.length === 0 ? <p class="empty">{team.noInvitations}</p> : null}
      <ul class="choices">
        {invitations.map(({ invitationId, email, siteId, role, expiresUTCDate, mail }) => (
          <li>
            <strong class="order">{email}</strong>
            <small>{fill(team.roleAt, { role: texts.roles[role], place: placeName(viewer, siteId) })}</small>
            <small>{fill(team.until, { time: clock.format(expiresUTCDate) })}</small>
            {mail === undefined ? null : <small>{team.mail[mail]}</small>}
            {viewer.can('people.manage', siteId) ? (
              <PostForm viewer={viewer} action={`${pathOf(viewer)}/team/invitations/${invitationId}/withdraw`}>
                <input type="hidden" name="place" value={siteId === undefined ? '' : String(siteId)} />
                <button class="small" aria-label={fill(team.withdrawNamed, { email })}>
                  {team.withdraw}
                </button>
              </PostForm>
            ) : null}
          </li>
        ))}
      </ul>
    </section>
  );
}

function InvitationForm({ viewer, invitationId, typed }: TeamPage) {
  const { texts, merchant, scope } = viewer;
  const { team } = texts;
  const sites = merchant.sites.filter(({ siteId }) => viewer.can('people.manage', siteId));
  return (
    <section class="card">
      <h2>{team.invite}</h2>
      <p>{team.inviteWhy}</p>
      <PostForm viewer={viewer} action={`${pathOf(viewer)}/team/invitations`}>
        <input type="hidden" name="key" value={invitationId} />
        <label>
          {texts.signIn.email}
          <input
            name="email"
            type="email"
            autocomplete="off"
            required
            maxlength={MAX_EMAIL_LENGTH}
            value={typed?.email ?? ''}
          />
        </label>
        <label>
          {team.role}
          <RoleSelect {...{ viewer, role: typed?.role ?? 'support' }} />
        </label>
        <label>
          {team.place}
          <select name="place">
            {scope.sites === 'all' ? <option value="">{team.wholeMerchant}</option> : null}
            {sites.map(({ siteId, name }) => (
              <option value={String(siteId)} selected={typed?.place === String(siteId)}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <button>{team.submitInvite}</button>
      </PostForm>
    </section>
  );
}

export function RoleSelect({ viewer: { texts }, role }: { viewer: MerchantViewer; role: Role }) {
  return (
    <select name="role" required>
      {ROLES.map((each) => (
        <option value={each} selected={each === role}>
          {texts.team.roleHelp[each]}
        </option>
      ))}
    </select>
  );
}

/** The name of a site, or that of all sites. */
export function placeName(viewer: MerchantViewer, siteId: number | undefined): string {
  return siteId === undefined ? viewer.texts.team.wholeMerchant : siteName(viewer, siteId);
}
