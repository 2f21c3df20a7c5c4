import type { Approver } from '../contract/call.js';
import type { Confirmation } from '../contract/confirmation.js';
import { type Consent, type ConsentKind, definitionHash } from '../policy/consent.js';

/** Something a project wants to start, or the program that uses us. */
export interface ConsentRequest {
  /** Who wants it; the project when left out. */
  owner?: string;
  kind: ConsentKind;
  /** Names it within its kind. */
  id: string;
  /** Everything that decides what runs. */
  definition: unknown;
  confirmation: Confirmation;
}

/** Nobody agreed; nothing was started. */
export class ConsentRefused extends Error {
  override readonly name = 'ConsentRefused';
}

/** Lets through what a person has agreed to, and asks once about what they have not. Throws `ConsentRefused`. */
export class ConsentGate {
  readonly #consent: Consent;
  readonly #approver: Approver;

  constructor(consent: Consent, approver: Approver) {
    this.#consent = consent;
    this.#approver = approver;
  }

  async pass(request: ConsentRequest, signal: AbortSignal): Promise<void> {
    await this.passAll(await this.unapproved([request]), request.confirmation, signal);
  }

  /** Those that a person has not agreed to as they are now. */
  async unapproved(requests: readonly ConsentRequest[]): Promise<ConsentRequest[]> {
    const isApproved = ({ kind, id, definition }: ConsentRequest) =>
      this.#consent.isApproved(kind, id, definitionHash(definition));
    const answers = await Promise.all(requests.map(isApproved));
    return requests.filter((_, index) => !answers[index]);
  }

  /** Asks one question about several things. */
  async passAll(requests: readonly ConsentRequest[], confirmation: Confirmation, signal: AbortSignal): Promise<void> {
    const [first] = requests;
    if (!first) return;
    const { kind, id, owner } = first;
    const request = {
      callId: `${kind} ${id}`,
      tool: kind,
      displayName: kind,
      description: confirmation.title,
      args: {},
      confirmation,
      reason: 'it is not your own and you have not agreed to exactly this before',
      isRemembered: true as const,
    };
    const decision = await this.#approver.decide(request, signal).catch((error: unknown) => {
      const message =
        owner === undefined
          ? 'It belongs to the project, and you have not agreed to it as it is now. Run `lathe trust` to see it and agree.'
          : `You have not agreed yet that ${owner} starts it.`;
      throw new ConsentRefused(message, { cause: error });
    });
    if (decision.outcome !== 'once' && decision.outcome !== 'always')
      throw new ConsentRefused(
        `You did not agree to it.${owner === undefined ? ' To be asked again, run `lathe trust`.' : ''}`,
      );
    for (const each of requests) await this.#consent.approve(each.kind, each.id, definitionHash(each.definition));
  }
}
