/// The measurements of one peer. Those of its media are of its first stream; ``streams`` has the others.
public struct PeerReport: Sendable, Hashable, Codable {
  /// The id that the server assigned.
  public var id: String
  /// The name that the peer gave itself; nil if the system knows none.
  public var name: String?
  /// How far the call with the peer progressed.
  public var reached: CallProgress
  /// The progress as a sentence, with the obstacle if there was one.
  public var progress: String
  /// The times of the call's steps.
  public var steps: CallSteps
  /// How the peer left; nil if it stayed to the end.
  public var departure: Departure?
  /// How long before the check's end the peer's media ended because it had left; 0 if it stayed.
  public var absent: Double
  /// The connection in both directions; the received packets are those of the first stream.
  public var connection: ConnectionReport
  /// The codecs in which the media arrived; nil if none did.
  public var codecs: TrackCodecs?
  /// The video; nil if no frame was decoded.
  public var video: VideoReport?
  /// The audio; nil if none was decoded.
  public var audio: AudioReport?
  /// Kinds of media that arrived without one decodable frame: `audio`, `video`; nil for none.
  public var undecoded: [String]?
  /// Why the first frame of such a video could not be decoded, or of such audio alone, as a clause; nil if that is not known.
  public var undecodedReason: String?
  /// The media sections that we or the peer rejected; nil for none.
  public var rejected: [RejectionReport]?
  /// The audio/video skew; nil if it could not be measured.
  public var skew: SkewReport?
  /// The test pattern in the peer's media; nil if none was found.
  public var pattern: PatternReport?
  /// The frames of our pattern that the peer returned; nil if it returned none.
  public var returned: ReturnReport?
  /// What our data channel to the peer carried; nil without one.
  public var data: DataReport?
  /// The first chat messages of the call with the peer, in the order of their times; nil if there were none.
  public var messages: [MessageReport]?
  /// The number of further messages; nil for none.
  public var furtherMessages: Int?
  /// How long before the check's end the peer joined, if that was too late for it to be judged; nil if it was judged.
  public var timeLeftAfterLateJoin: Double?
  /// True for a listener: the peer's description announces no media, and none came. It is not judged where media is
  /// expected. Nil for all others.
  public var onlyReceives: Bool?
  /// The call in steps of time.
  public var timeline: CheckTimeline
  /// Frames that arrived and were not decoded; nil if all were.
  public var skippedFrames: SkippedFramesReport?
  /// What arrived and was not decoded, because no process decodes it; nil if there is none.
  public var unverified: UnverifiedReport?
  /// A few frames, evenly distributed over the call.
  public var thumbnails: [Thumbnail]
  /// The peer's further streams in the order of their numbers, such as a screen beside the camera; nil for none.
  public var streams: [StreamReport]?
  /// The number of streams beyond the limit, which were not judged; nil for none.
  public var streamsNotJudged: Int?
  /// The paths of the peer's media files, for a report that plays them. The caller sets them.
  public var recordings: [String] = []
  /// The stream whose media the report has; above 1 only in what ``stream(_:)`` returns, which is never written.
  package private(set) var streamNumber = 1

  private enum CodingKeys: String, CodingKey {
    case id, name, reached, progress, steps, departure, absent, connection, codecs, video, audio, undecoded,
      undecodedReason,
      rejected, skew,
      pattern,
      returned, data, messages, furtherMessages, timeLeftAfterLateJoin, onlyReceives, timeline, skippedFrames,
      unverified, thumbnails, streams, streamsNotJudged, recordings
  }

  /// Returns the peer with the media of one of its streams in place of the first one's, so that whatever reads the first
  /// stream can read any; nil if there is no such stream.
  package func stream(_ number: Int) -> PeerReport? {
    if number == streamNumber { return self }
    guard let stream = streams?.first(where: { $0.number == number }) else { return nil }
    var peer = self
    peer.streamNumber = number
    peer.streams = nil
    peer.steps.firstFrame = stream.firstFrame
    peer.steps.firstSound = stream.firstSound
    peer.connection = ConnectionReport()
    peer.connection.audio = stream.received.audio
    peer.connection.video = stream.received.video
    peer.codecs = stream.codecs
    peer.video = stream.video
    peer.audio = stream.audio
    peer.undecoded = stream.undecoded
    peer.undecodedReason = stream.undecodedReason
    peer.rejected = nil
    peer.skew = stream.skew
    peer.pattern = stream.pattern
    peer.returned = stream.returned
    peer.data = nil
    peer.messages = nil
    peer.furtherMessages = nil
    peer.timeline = stream.timeline
    peer.skippedFrames = stream.skippedFrames
    peer.unverified = stream.unverified
    peer.thumbnails = stream.thumbnails
    peer.recordings = []
    return peer
  }

  /// The frames of all streams that were not decoded.
  var skippedFramesOfAllStreams: Int {
    (streams ?? []).reduce(skippedFrames?.videoFrames ?? 0) { $0 + ($1.skippedFrames?.videoFrames ?? 0) }
  }

  /// Whether anything of any stream was not decoded, because no process decodes it.
  var hasUnverified: Bool { unverified != nil || streams?.contains { $0.unverified != nil } ?? false }

  /// How a peer left.
  public struct Departure: Sendable, Hashable, Codable {
    /// The time at which the departure became known.
    public var time: Double
    public var cause: Cause
    /// A sentence about the reason.
    public var sentence: String

    public enum Cause: String, Sendable, Hashable, Codable, CaseIterable {
      /// It left the room.
      case left
      /// Packets from the peer stopped.
      case connectionLost
      /// The call with the peer could not be established or continued.
      case failed
      /// We ended the call with the peer.
      case closedByUs
    }
  }
}

/// How far a call with a peer progressed, in ascending order.
public enum CallProgress: String, Sendable, Hashable, Codable, CaseIterable, Comparable {
  /// Only media is known, as in a recording.
  case nothing
  case seen
  /// An offer was sent or received.
  case offered
  /// The answer was sent or received.
  case answered
  /// The peer answered one of our ICE checks.
  case checked
  case iceConnected
  case dtlsConnected
  /// Media packets arrived.
  case packets
  /// A video frame or audio packet was decoded.
  case media

  public static func < (one: Self, other: Self) -> Bool { one.rank < other.rank }

  private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// Frames of a stream that arrived and were not decoded, because this machine did not keep up with decoding. Their
/// content was not measured, and rules about it are inconclusive.
public struct SkippedFramesReport: Sendable, Hashable, Codable {
  /// The number of skipped frames.
  public var videoFrames: Int
  /// The arrival times of the first and the last skipped frame.
  public var first: Double
  public var last: Double

  private enum CodingKeys: String, CodingKey {
    case videoFrames = "frames"
    case first, last
  }

  package init(videoFrames: Int, first: Double, last: Double) {
    self.videoFrames = videoFrames
    self.first = first
    self.last = last
  }

  /// The reason why a measurement is inconclusive, as a clause.
  var clause: String {
    "this machine could not decode everything that arrived: \(videoFrames) \(videoFrames == 1 ? "frame was" : "frames were") skipped"
  }
}

/// Frames and audio packets of a stream that arrived and were not decoded, because no process decodes them: `chatbot-media` is missing, 64
/// participants are decoded already, or the process crashed three times. Nothing is known of their content, and rules about it are
/// inconclusive.
public struct UnverifiedReport: Sendable, Hashable, Codable {
  /// The number of video frames.
  public var videoFrames: Int
  /// The number of audio packets.
  public var audioPackets: Int
  /// Why the first of them was not decoded, as a clause.
  public var reason: String

  private enum CodingKeys: String, CodingKey {
    case videoFrames = "frames"
    case audioPackets = "packets"
    case reason
  }

  package init(videoFrames: Int, audioPackets: Int, reason: String) {
    self.videoFrames = videoFrames
    self.audioPackets = audioPackets
    self.reason = reason
  }

  /// The number of frames and packets as words, for example `12 frames and 1 audio packet`.
  package var words: String {
    let frames = videoFrames > 0 ? ["\(videoFrames) \(videoFrames == 1 ? "frame" : "frames")"] : []
    let packets = audioPackets > 0 ? ["\(audioPackets) audio \(audioPackets == 1 ? "packet" : "packets")"] : []
    return (frames + packets).joined(separator: " and ")
  }

  /// What was not decoded, and why, as a clause.
  package var clause: String {
    "\(words) \(videoFrames + audioPackets == 1 ? "was" : "were") not decoded here: \(ReportText.line(reason).asClause)"
  }
}

/// The times of the steps of a call, in seconds since the check's start; a step that did not happen is nil.
public struct CallSteps: Sendable, Hashable, Codable {
  /// The start of the call with the peer: it was seen in the room, or its offer arrived.
  public var seen: Double?
  public var offerSent: Double?
  public var offerReceived: Double?
  public var answerSent: Double?
  public var answerReceived: Double?
  /// Our first candidate and the peer's first, whether in a description or trickled.
  public var firstLocalCandidate: Double?
  public var firstRemoteCandidate: Double?
  /// We sent our first ICE connectivity check.
  public var checksBegun: Double?
  /// The peer answered one of our checks for the first time.
  public var firstCheckAnswered: Double?
  public var iceConnected: Double?
  public var dtlsConnected: Double?
  public var firstPacket: Double?
  /// The first frame was decoded.
  public var firstFrame: Double?
  /// The first audio packet was decoded.
  public var firstSound: Double?
  /// The number of our candidates and of the peer's by kind: `host`, `mdns`, `srflx`, `prflx`, `relay`, `tcp`, `other`. Nil
  /// for a recording.
  public var localCandidates: [String: Int]? = [:]
  public var remoteCandidates: [String: Int]? = [:]

  package init() {}
}

/// The measurements of a peer's video. Times are in seconds.
public struct VideoReport: Sendable, Hashable, Codable {
  /// The time of the first frame, and the duration from there to the peer's end.
  public var start: Double
  public var duration: Double
  /// The number of decoded frames.
  public var frames: Int
  /// Frames per second, over the time in which the sender produced them: a burst of older frames does not raise the
  /// rate.
  public var fps: Double
  /// The fewest frames in any second (a window of 1 s that moves by the timeline's step); nil if the video lasted less
  /// than a second.
  public var fpsMinimum: Double?
  /// Bits of video per second, over the same time.
  public var bitrate: Double
  public var keyframes: Int
  /// The number of frames that could not be decoded, not counting those before the first keyframe.
  public var decodeErrors: Int
  /// The number of frames that arrived before the first keyframe.
  public var framesBeforeKeyframe: Int
  /// Each video size and its start time; at most 200.
  public var sizes: [Size]
  /// How often the size changed.
  public var sizeChanges: Int
  /// How frames are turned before they are shown, at the start and after each change, at most 200; nil if they always were upright.
  public var orientations: [Orientation]?
  /// The mean luma of all frames: 16 is black, 235 white.
  public var brightness: Double
  /// Intervals without a new frame.
  public var freezes: IntervalSummary
  /// Intervals of black frames.
  public var black: IntervalSummary
  /// Intervals in which frames arrived that all look the same.
  public var frozen: IntervalSummary

  /// A video size and its start time.
  public struct Size: Sendable, Hashable, Codable {
    public var time: Double
    public var width: Int
    public var height: Int
  }

  /// How frames are turned before they are shown, and the time from which that applies.
  public struct Orientation: Sendable, Hashable, Codable {
    public var time: Double
    /// The angle clockwise, in degrees: 0, 90, 180 or 270.
    public var rotation: Int
    /// Whether left and right of the turned frame change places.
    public var mirrored: Bool
  }
}

/// The measurements of a peer's audio. Times are in seconds.
public struct AudioReport: Sendable, Hashable, Codable {
  /// The time of the first audio, and the duration from there to the peer's end.
  public var start: Double
  public var duration: Double
  /// The number of decoded packets.
  public var packets: Int
  /// Bits of audio per second.
  public var bitrate: Double
  /// 1 or 2: the highest channel count of any packet.
  public var channels: Int
  /// The number of packets that could not be decoded.
  public var decodeErrors: Int
  /// The root mean square of all decoded audio, in dB relative to full scale (0 is a full square wave); at least -96.
  public var level: Double
  /// The loudest sample, in the same unit.
  public var peak: Double
  /// Seconds that the decoder concealed in place of lost packets.
  public var concealed: Double
  /// Intervals without audible audio: the level was below -60 dB, or nothing arrived.
  public var silence: IntervalSummary
  /// Intervals of clipped audio: blocks of 20 ms in which one sample in a hundred is at full scale.
  public var clipped: IntervalSummary
  /// Intervals in which audio that was sent is missing.
  public var gaps: IntervalSummary
}

/// A peer's call in steps of equal length, for charts. Entry `n` of each row is the interval that starts at `n * step`;
/// nil means that nothing was measured in it.
public struct CheckTimeline: Sendable, Hashable, Codable {
  /// The length of a step in seconds: 0.2, or more for calls of more than ten minutes.
  public var step: Double
  /// Received payload bits per second.
  public var videoBitrate: [Double?]
  public var audioBitrate: [Double?]
  /// The share of packets of both tracks that did not arrive at the first attempt, where the counters were sampled.
  public var loss: [Double?]
  /// Frames per second.
  public var fps: [Double?]
  /// The share of the step in which the video was frozen, 0 to 1.
  public var freeze: [Double?]
  /// The audio level in dB relative to full scale.
  public var level: [Double?]
  /// The audio/video skew in seconds; positive if the audio is late.
  public var skew: [Double?]
  /// The delay from the pattern's timestamp to its arrival, in seconds; always nil without our wall clock or without
  /// the pattern.
  public var videoDelay: [Double?]
  public var audioDelay: [Double?]
  /// RTP payload bits per second that we sent, and the target bitrate, where they were sampled.
  public var sentBitrate: [Double?]
  public var targetBitrate: [Double?]
  /// Keyframes that we requested, and keyframes that arrived.
  public var keyframeRequests: [Double?]
  public var keyframes: [Double?]
}
