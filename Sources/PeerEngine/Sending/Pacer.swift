package import Media
import NIOCore
package import RTP

/// Spreads packets over time, so that a keyframe does not fill the queues on its way: audio at once, then what was lost
/// and is sent again, then frames.
package struct Pacer: Sendable {
  package enum Priority: Sendable, Hashable {
    case audio
    case retransmission
    case videoFrame
  }

  /// The kind of frame that begins with a packet.
  package enum FrameStart: Sendable, Hashable {
    case videoFrame
    case keyframe
  }

  /// A packet that waits to leave.
  package struct Entry: Sendable {
    package var packet: RTPPacket
    package var priority: Priority
    /// The place among the m-lines of the section that it belongs to.
    package var media: Int
    /// Set if a frame of video begins with it.
    package var start: FrameStart?

    package init(packet: RTPPacket, priority: Priority, media: Int, start: FrameStart? = nil) {
      self.packet = packet
      self.priority = priority
      self.media = media
      self.start = start
    }
  }

  package struct Configuration: Sendable, Hashable {
    /// Bits a second that are always allowed.
    package var minimumRate: Double = 4_000_000
    /// Bits a second beyond which nothing is sent, unless the media itself is faster.
    package var maximumRate: Double = 12_000_000
    /// How many times faster than the media's own rate packets leave.
    package var headroom: Double = 2.5
    /// In how long a queue should be empty.
    package var drainTime: Duration = .milliseconds(200)
    /// Bytes that may leave at one moment.
    package var burst: Double = 3_000

    package init() {}
  }

  private static let maximumRetransmissions = 1_000
  private static let holdTime: Duration = .milliseconds(50)
  /// In seconds: how much may leave at one moment of what the path carries in that time.
  private static let burstTime = 0.005

  package let configuration: Configuration

  private var audio = CircularBuffer<Entry>()
  private var retransmissions = CircularBuffer<Entry>()
  private var videoFrames = CircularBuffer<Entry>()
  private var queuedBytes = 0
  /// Those of retransmissions among them.
  private var repeatedBytes = 0
  private var meter = RateCounter(shortestWindow: .seconds(1))
  private var credit: Double
  private var lastUpdate: MonotonicInstant?
  private var rate: Double
  /// The rate to keep, and what the line is known not to exceed, in bits a second.
  private var lineRate: Double?
  private var lineLimit: Double?
  private var probeRate: Double?
  /// Whether the last attempt was refused because too much is on its way already.
  private var isHeldBack = false

  package init(configuration: Configuration = .init()) {
    self.configuration = configuration
    credit = configuration.burst
    rate = configuration.minimumRate
  }

  package var isEmpty: Bool { audio.isEmpty && retransmissions.isEmpty && videoFrames.isEmpty }

  package var hasVideo: Bool { !videoFrames.isEmpty }

  /// How long the last packet has to wait at the present rate.
  package var delay: Duration { delay(of: queuedBytes) }

  /// Bits a second of the media that came in the last second.
  package mutating func mediaRate(now: MonotonicInstant) -> Double { meter.bitrate(now: now) }

  /// How long it takes until the line has carried what waits; when no limit of it is known, until it has left.
  package var backlog: Duration { lineLimit == nil ? delay : time(for: queuedBytes) }

  /// How long the line needs for so many bytes; nothing when no limit of it is known.
  package func time(for bytes: Int) -> Duration {
    lineLimit.map { .nanoseconds(Int64(Double(bytes) * 8 / $0 * 1e9)) } ?? .zero
  }

  /// Paces by what the path carries from now on.
  ///
  /// - Parameters:
  ///   - lineRate: the rate to keep, in bits a second; nil when nothing is known of the line: then by what the media itself
  ///     needs.
  ///   - limit: what it is known not to exceed.
  ///   - probe: the rate of the probe that is under way.
  package mutating func pace(by lineRate: Double?, limit: Double?, probe: Double?, now: MonotonicInstant) {
    lineLimit = limit
    guard lineRate != self.lineRate || probe != probeRate else { return }
    if !isEmpty || probeRate != nil { update(now: now) }
    self.lineRate = lineRate
    probeRate = probe
    updateRate(now: now)
  }

  /// How long a packet that is sent again has to wait at the present rate.
  package var retransmissionDelay: Duration { delay(of: repeatedBytes) }

  private func delay(of bytes: Int) -> Duration { .nanoseconds(Int64(Double(bytes) * 8 / rate * 1e9)) }

  /// Queues a packet; a retransmission is thrown away when very many wait already, for it will be requested again.
  package mutating func add(_ entry: Entry, now: MonotonicInstant) {
    let size = entry.packet.byteCount
    if isEmpty { update(now: now) }
    switch entry.priority {
    case .audio: audio.append(entry)
    case .videoFrame: videoFrames.append(entry)
    case .retransmission:
      guard retransmissions.count < Self.maximumRetransmissions else { return }
      retransmissions.append(entry)
      repeatedBytes += size
    }
    queuedBytes += size
    // What is sent again says nothing of the media's rate, and must not raise it.
    if entry.priority != .retransmission { meter.add(bytes: size, now: now) }
    if lineRate == nil { updateRate(now: now) }
  }

  private mutating func updateRate(now: MonotonicInstant) {
    if let lineRate {
      rate = max(lineRate, probeRate ?? 0)
      return
    }
    let own = meter.bitrate(now: now)
    let ceiling = max(configuration.maximumRate, own * 1.5)
    let drain = Double(queuedBytes) * 8 / configuration.drainTime.seconds
    rate = min(max(configuration.minimumRate, own * configuration.headroom, drain), ceiling)
  }

  /// The next packet that may leave now.
  ///
  /// - Parameter room: bytes that may be on their way besides those that are; audio is so little that it needs none.
  package mutating func next(room: Int? = nil, now: MonotonicInstant) -> Entry? {
    guard !isEmpty else { return nil }
    update(now: now)
    let entry: Entry?
    isHeldBack = false
    if let first = audio.popFirst() {
      entry = first
    } else if credit > 0 {
      isHeldBack = room.map { $0 <= 0 } ?? false
      entry = isHeldBack ? nil : retransmissions.popFirst() ?? videoFrames.popFirst()
    } else {
      entry = nil
    }
    guard let entry else { return nil }
    let size = entry.packet.byteCount
    queuedBytes -= size
    if entry.priority == .retransmission { repeatedBytes -= size }
    credit -= Double(size)
    return entry
  }

  /// Whether the probe that is under way needs packets that nothing waits to give.
  package mutating func wantsFiller(now: MonotonicInstant) -> Bool {
    guard probeRate != nil, isEmpty else { return false }
    update(now: now)
    return credit > 0
  }

  /// A packet left that never waited here.
  package mutating func fillerLeft(size: Int) { credit -= Double(size) }

  /// When the next packet may leave; nil when none waits.
  package var deadline: MonotonicInstant? {
    guard !isEmpty || probeRate != nil, let lastUpdate else { return nil }
    // Feedback makes room; without any, time does.
    if isHeldBack && audio.isEmpty { return lastUpdate + Self.holdTime }
    if !audio.isEmpty || credit > 0 { return lastUpdate }
    // A millisecond's worth at least: waking up costs more than a packet.
    let wait = max(0.001, (1 - credit) * 8 / rate)
    return lastUpdate + .nanoseconds(Int64(wait * 1e9))
  }

  /// Throws away what waits of one media section.
  package mutating func removeAll(media: Int) {
    audio = audio.filter(of: media)
    retransmissions = retransmissions.filter(of: media)
    videoFrames = videoFrames.filter(of: media)
    repeatedBytes = retransmissions.byteCount
    queuedBytes = audio.byteCount + repeatedBytes + videoFrames.byteCount
  }

  /// Whether the beginning of a section's keyframe waits.
  package func hasKeyframe(media: Int) -> Bool { videoFrames.contains { $0.media == media && $0.start == .keyframe } }

  /// Throws away a section's frames of which nothing has left, and what was to be sent again.
  ///
  /// - Returns: how many frames.
  package mutating func removeStale(media: Int) -> Int {
    retransmissions = retransmissions.filter(of: media)
    repeatedBytes = retransmissions.byteCount
    var kept = CircularBuffer<Entry>()
    var removed = 0
    for entry in videoFrames {
      if entry.media == media, entry.start != nil { removed += 1 }
      if entry.media != media || removed == 0 { kept.append(entry) }
    }
    videoFrames = kept
    queuedBytes = audio.byteCount + repeatedBytes + videoFrames.byteCount
    return removed
  }

  private mutating func update(now: MonotonicInstant) {
    if let lastUpdate, now > lastUpdate {
      let burst = lineRate == nil ? configuration.burst : min(configuration.burst, max(1, rate / 8 * Self.burstTime))
      credit = min(burst, credit + (now - lastUpdate).seconds * rate / 8)
    }
    lastUpdate = max(lastUpdate ?? now, now)
  }
}

extension CircularBuffer<Pacer.Entry> {
  fileprivate var byteCount: Int { reduce(0) { $0 + $1.packet.byteCount } }

  /// Without the packets of one section.
  fileprivate func filter(of media: Int) -> Self {
    Self(self.lazy.filter { $0.media != media })
  }
}
