import { Body, Controller, Delete, Get, Header, HttpCode, Inject, Param, Post } from '@nestjs/common';
import { type AuthenticatedPartner, ForPartners, Partner } from '@svc/auth';
import type { CardAnswer, PublicKeyJwk } from '@svc/contracts';
import { CardKeys } from '../card-data/card-keys.js';
import { DeleteCard } from './delete-card.js';
import { StoreCard } from './store-card.js';

/** Stored cards (P7). Needs `x-api-key` and an identity token. Errors are RFC 9457 (C5). */
@Controller('v1/cards')
@ForPartners('cards:write')
export class CardsController {
  constructor(
    @Inject(StoreCard) private readonly storeCard: StoreCard,
    @Inject(DeleteCard) private readonly deleteCard: DeleteCard,
    @Inject(CardKeys) private readonly cardKeys: CardKeys,
  ) {}

  /**
   * Stores a card (P7) of the token's customer or organisation.
   *
   * @body StoreCardRequest
   * @returns 201 The token of the stored card.
   * @throws card.invalid
   * @throws card.too-many-attempts
   * @throws service.not-ready Other cards of the organisation are being stored at this moment.
   * @throws card-key.not-in-use
   * @throws live-mode.unavailable
   * @throws acquirer.unavailable
   */
  @Post()
  @Header('cache-control', 'no-store')
  store(@Partner() partner: AuthenticatedPartner, @Body() body: unknown): Promise<CardAnswer> {
    return this.storeCard.execute(partner, body);
  }

  /**
   * Deletes a stored card. An organisation's server can also delete the cards of its customers.
   *
   * @throws resource.not-found The caller has no such card.
   */
  @Delete(':token')
  @HttpCode(204)
  delete(@Partner() partner: AuthenticatedPartner, @Param('token') token: string): Promise<void> {
    return this.deleteCard.execute(partner, token);
  }

  /**
   * Reads the encryption key for `encryptedCard` (P8): a public JWK on P-256. After a rotation, cards encrypted with
   * the old key are accepted for 24 hours. Later they are rejected with `card-key.not-in-use` (400), and the client
   * must read the key again.
   */
  @Get('encryption-key')
  @Header('cache-control', 'private, max-age=60')
  encryptionKey(): Promise<PublicKeyJwk> {
    return this.cardKeys.currentPublicKey();
  }
}
