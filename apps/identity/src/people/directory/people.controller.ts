import { Body, Controller, Delete, Get, Header, HttpCode, Inject, Param, Post, UseGuards } from '@nestjs/common';
import { AdminKeyGuard, Author, type ChangeAuthor } from '@svc/auth';
import { INVITATION_PATH, type PeopleList } from '@svc/contracts';
import { numericId, uuidId } from '../../path-ids.js';
import { InvitePeople } from '../invitations/invite-person.js';
import { RemovePeople } from '../roles/remove-person.js';
import { ResetPersonFactors } from '../second-factors/reset-second-factors.js';
import { SignInLinks } from '../sign-in-links/sign-in-links.js';
import { ListPeople } from './list-people.js';
import { InvitePersonRequest, SignInLinkRequest } from './people.requests.js';

/** An invitation, with the link that accepts it. */
interface InvitationLink {
  /**
   * UUID.
   * @schema uuid
   */
  readonly invitationId: string;
  /** Path at the address of the console, with a one-time token. It is shown only once. */
  readonly path: string;
  /** ISO 8601 UTC with milliseconds (C2). */
  readonly expiresUTCDate: string;
}

/** People of merchants in the console. Requires `x-admin-key`. Errors are RFC 9457 (C5). */
@Controller('admin/v1/merchants/:merchantId/people')
@UseGuards(AdminKeyGuard)
export class PeopleController {
  constructor(
    @Inject(InvitePeople) private readonly invitePeople: InvitePeople,
    @Inject(ListPeople) private readonly listPeople: ListPeople,
    @Inject(RemovePeople) private readonly removePeople: RemovePeople,
  ) {}

  /**
   * Invites a person, such as the first owner of a merchant. An earlier invitation of the email to the same merchant or
   * site becomes invalid.
   *
   * @returns 201 The path of the link, which is valid for 24 hours.
   * @throws resource.not-found
   * @throws resource.conflict The person has a role there already, or the merchant has 100 open invitations.
   */
  @Post()
  @Header('cache-control', 'no-store')
  async invite(
    @Author() author: ChangeAuthor,
    @Param('merchantId', numericId) merchantId: number,
    @Body() { email, role, siteId }: InvitePersonRequest,
  ): Promise<InvitationLink> {
    const scope = { merchantId, ...(siteId === undefined ? {} : { siteId }) };
    const { invitationId, invitationToken, expiresUTCDate } = await this.invitePeople.executeByAdministrator(
      author,
      scope,
      { email, role },
    );
    return { invitationId, path: `${INVITATION_PATH}${invitationToken}`, expiresUTCDate };
  }

  /**
   * Lists the people of a merchant and its sites, by name, and the open invitations, the newest first.
   *
   * @throws resource.not-found
   */
  @Get()
  list(@Param('merchantId', numericId) merchantId: number): Promise<PeopleList> {
    return this.listPeople.executeByAdministrator(merchantId);
  }

  /**
   * Removes a person from the merchant and its sites, or withdraws an invitation. `id` is a personId or an invitationId.
   * The last owner can be removed too. A person without any role is deleted, and can be invited again.
   *
   * @throws resource.not-found
   */
  @Delete(':id')
  @HttpCode(204)
  async remove(
    @Author() author: ChangeAuthor,
    @Param('merchantId', numericId) merchantId: number,
    @Param('id', uuidId) id: string,
  ): Promise<void> {
    if (await this.invitePeople.withdrawByAdministrator(author, merchantId, id)) return;
    await this.removePeople.executeByAdministrator(author, merchantId, id);
  }
}

/** Second factors of people of merchants. Requires `x-admin-key`. Errors are RFC 9457 (C5). */
@Controller('admin/v1/merchants/:merchantId/people/:id/second-factors')
@UseGuards(AdminKeyGuard)
export class PersonFactorsController {
  constructor(@Inject(ResetPersonFactors) private readonly resetFactors: ResetPersonFactors) {}

  /**
   * Removes the authenticator app and all passkeys of a person who lost them, and ends the sessions of the person. At the
   * next sign-in the password is enough to set up a new second factor. The person gets a mail. `id` is a personId.
   *
   * @throws resource.not-found The person has no role at the merchant.
   */
  @Delete()
  @HttpCode(204)
  async reset(
    @Author() author: ChangeAuthor,
    @Param('merchantId', numericId) merchantId: number,
    @Param('id', uuidId) personId: string,
  ): Promise<void> {
    await this.resetFactors.executeByAdministrator(author, merchantId, personId);
  }
}

/** Sign-in links for development. Requires `x-admin-key`. Errors are RFC 9457 (C5). */
@Controller('admin/v1/people')
@UseGuards(AdminKeyGuard)
export class SignInLinksController {
  constructor(@Inject(SignInLinks) private readonly links: SignInLinks) {}

  /**
   * Creates a link that signs a person in once, without a password. Open invitations of
   * the email are accepted before.
   *
   * @returns 201 The path of the link at the address of the console, valid for 24 hours.
   * @throws resource.not-found No person and no open invitation has the email.
   * @throws credentials.forbidden The platform does not run in the development environment.
   */
  @Post('sign-in-link')
  @Header('cache-control', 'no-store')
  create(
    @Author() author: ChangeAuthor,
    @Body() { email }: SignInLinkRequest,
  ): Promise<{ path: string; expiresUTCDate: string }> {
    return this.links.create(author, email);
  }
}
