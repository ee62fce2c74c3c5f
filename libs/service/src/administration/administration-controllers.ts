import type { Type } from '@nestjs/common';
import type { AdministeredService } from '@svc/contracts';
import { createAdministrationConsumer } from './administration.consumer.js';
import { createBrokerDeadLettersController, createDeadLettersController } from './dead-letters.controller.js';
import { createStatusController } from './status.controller.js';

/** The controllers of administration that all services have. A service adds them to its module with ADMIN_KEY and AuditTrail. */
export function administrationControllers(service: AdministeredService): Type[] {
  return [
    createBrokerDeadLettersController(service),
    createDeadLettersController(service),
    createStatusController(service),
    createAdministrationConsumer(service),
  ];
}
