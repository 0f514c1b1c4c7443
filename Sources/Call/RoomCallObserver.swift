public import BotPeer
public import Media
public import Recorder
public import Signalling

/// Observes a ``RoomCall`` and may end it. Methods are called in the order of events, from several threads, and must not block. Each has
/// a default that does nothing.
public protocol RoomCallObserver: MediaSink {
  /// The server sent an event.
  func received(_ event: SignallingEvent, at now: ContinuousClock.Instant)
  /// A participant's connection reported an event. Media comes to the observer as to a `MediaSink`.
  func received(_ event: PeerEvent, of participant: ParticipantID, at now: ContinuousClock.Instant)
  /// A frame was sent to all participants.
  func sent(_ frame: EncodedFrame, at now: ContinuousClock.Instant)
  /// A chat message was received from a user or sent to one.
  func exchanged(_ message: RoomCall.ChatMessage, at now: ContinuousClock.Instant)
  /// A received frame is recorded. Frames of a pause, and those that cannot be recorded, do not come here.
  func recorded(_ frame: EncodedFrame)
  /// The files of a recording are finished.
  func recorded(_ recording: RecordingSummary)
  /// A file of a recording with segments is finished.
  func finished(_ segment: RecordedSegment)
  /// A recording has a problem, or is over one.
  func received(_ problem: RoomRecorder.Problem)
  /// The call is over; what follows is our own leaving.
  func leaving(at now: ContinuousClock.Instant, because reason: RoomCall.EndReason)
  /// Samples the call's statistics, and returns when the observer has all it needs. The task is cancelled when the call ends for another
  /// reason.
  ///
  /// - Returns: why the call ends, as a clause; nil to let it go on.
  func watch(_ peer: Peer) async -> String?
}

extension RoomCallObserver {
  public func received(_ event: SignallingEvent, at now: ContinuousClock.Instant) {}
  public func received(_ event: PeerEvent, of participant: ParticipantID, at now: ContinuousClock.Instant) {}
  public func receive(_ event: MediaEvent, of participant: ParticipantID, now: ContinuousClock.Instant) {}
  public func sent(_ frame: EncodedFrame, at now: ContinuousClock.Instant) {}
  public func exchanged(_ message: RoomCall.ChatMessage, at now: ContinuousClock.Instant) {}
  public func recorded(_ frame: EncodedFrame) {}
  public func recorded(_ recording: RecordingSummary) {}
  public func finished(_ segment: RecordedSegment) {}
  public func received(_ problem: RoomRecorder.Problem) {}
  public func leaving(at now: ContinuousClock.Instant, because reason: RoomCall.EndReason) {}
  public func watch(_ peer: Peer) async -> String? { nil }
}

extension RoomCall {
  /// A chat message of a call.
  public struct ChatMessage: Sendable, Hashable {
    /// The user with whom it was exchanged.
    public var user: ParticipantID
    /// The id of the user who sent it, or our own.
    public var sender: String
    /// The sender's name; nil if the signalling knows none, and for a message of ours.
    public var name: String?
    /// At most 16 KiB, as the sender wrote it.
    public var text: String
  }
}
