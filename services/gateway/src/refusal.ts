import type { AccessRefusal } from '@outrider/domain';
import type { RefusalReason } from '@outrider/protocols';

/** Why the gateway, rather than the codec, ends a connection. */
export type ConnectionEnd = 'idle' | 'not-identified-in-time' | 'superseded' | 'answers-unread';

/** Why a connection, or a packet, was refused: by the codec, the gateway, or the access settings of the vehicle. */
export type Refusal = RefusalReason | ConnectionEnd | AccessRefusal;
