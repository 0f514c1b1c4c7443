/// An event of a participant's media. Events must be handled in the order in which they are delivered.
public enum MediaEvent: Sendable, Hashable {
  /// A frame, in decoding order within its track.
  case frame(EncodedFrame)
  /// What the sender's clock read at a media time.
  case clock(ClockReport)
  /// A packet of the track is missing and has been requested again: the next frame may be delayed by up to 3 s. A sink
  /// that writes both tracks in order of time should wait for that frame.
  case recovering(TrackID)
  /// The statistics of one track so far; about once a second, and once at the end.
  case statistics(TrackID, TrackStatistics)
  /// What the participant's description says of one of its streams, before the stream's first frame and when it changes. A
  /// stream that has stopped, and may continue later, has no tracks.
  case described(MediaStream)
}

/// Receives the media of participants: a recorder, for example, or a loopback.
///
/// It is called on the thread that receives packets for all participants, in the order in which events must be handled.
/// So it must return at once: it never waits for a disk, for another thread or for a decoder.
public protocol MediaSink: Sendable {
  /// Receives a frame, a clock report, statistics, or the notice that a packet is being recovered.
  ///
  /// - Parameters:
  ///   - event: the event.
  ///   - participant: the sender of the media.
  ///   - now: when the event was delivered; a frame itself arrived at its `arrival`.
  func receive(_ event: MediaEvent, of participant: ParticipantID, now: ContinuousClock.Instant)

  /// Receives several events, in order. Without an implementation of its own, a sink receives one after another.
  func receive(_ events: [MediaEvent], of participant: ParticipantID, now: ContinuousClock.Instant)
}

extension MediaSink {
  public func receive(_ events: [MediaEvent], of participant: ParticipantID, now: ContinuousClock.Instant) {
    for event in events { receive(event, of: participant, now: now) }
  }
}

/// What a sender's wall clock read at a media time: the part of an RTCP sender report (RFC 3550, 6.4.1) that aligns two
/// tracks of one sender.
public struct ClockReport: Sendable, Hashable {
  public var owner: ParticipantID
  /// The number of the participant's stream that the track belongs to, from 1.
  public var stream: Int
  public var codec: Codec
  /// The media time, on the same unwrapped timeline as the track's frames.
  public var time: MediaTime
  /// The sender's wall clock at that time: seconds since 1900 in 32.32 fixed point (RFC 3550, 4).
  public var ntp: UInt64
  /// When the report arrived.
  public var arrival: ContinuousClock.Instant {
    get { arrived.instant }
    set { arrived = MonotonicInstant(newValue) }
  }
  /// ``arrival`` in a type of fixed layout.
  package var arrived: MonotonicInstant

  /// The track that it is about.
  public var track: TrackID { TrackID(of: owner, stream: stream, kind: codec.kind) }

  public init(
    owner: ParticipantID, stream: Int = 1, codec: Codec, time: MediaTime, ntp: UInt64, arrival: ContinuousClock.Instant
  ) {
    self.owner = owner
    self.stream = stream
    self.codec = codec
    self.time = time
    self.ntp = ntp
    arrived = MonotonicInstant(arrival)
  }
}
