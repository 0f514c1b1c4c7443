package import Media
import NIOCore
package import RTP

/// Spreads packets over time, so that a keyframe does not fill the queues of the path: audio at once, then retransmissions,
/// then video frames.
package struct Pacer: Sendable {
  package enum Priority: Sendable, Hashable {
    case audio
    case retransmission
    case video
  }

  /// The kind of frame that begins with a packet.
  package enum FrameStart: Sendable, Hashable {
    case interframe
    case keyframe
  }

  /// A queued packet.
  package struct Entry: Sendable {
    package var packet: RTPPacket
    package var priority: Priority
    /// The m-line index of its media section.
    package var media: Int
    /// Set if a video frame begins with it.
    package var start: FrameStart?

    package init(packet: RTPPacket, priority: Priority, media: Int, start: FrameStart? = nil) {
      self.packet = packet
      self.priority = priority
      self.media = media
      self.start = start
    }
  }

  package struct Configuration: Sendable, Hashable {
    /// The minimum rate in bits a second.
    package var minimumRate: Double = 4_000_000
    /// The maximum rate in bits a second, unless the media itself is faster.
    package var maximumRate: Double = 12_000_000
    /// The factor of the pacing rate over the media's own rate.
    package var headroom: Double = 2.5
    /// The time in which a queue should drain.
    package var drainTime: Duration = .milliseconds(200)
    /// The bytes that may leave at once.
    package var burst: Double = 3_000

    package init() {}
  }

  private static let maximumRetransmissions = 1_000
  /// How long retransmissions may wait: later ones would be requested again, or come too late.
  private static let maximumRetransmissionDelay: Duration = .seconds(1)
  private static let holdTime: Duration = .milliseconds(50)
  /// The burst size as a time in seconds: what the path carries in this time may leave at once.
  private static let burstTime = 0.005

  package let configuration: Configuration

  private var audio = CircularBuffer<Entry>()
  private var retransmissions = CircularBuffer<Entry>()
  private var video = CircularBuffer<Entry>()
  private var queuedBytes = 0
  /// The part of the queued bytes that are retransmissions.
  private var repeatedBytes = 0
  private var meter = RateCounter(minimumWindow: .seconds(1))
  private var credit: Double
  private var lastUpdate: MonotonicInstant?
  private var rate: Double
  /// The pacing rate and the known limit of the path, in bits a second.
  private var pacingRate: Double?
  private var linkCapacity: Double?
  private var probeRate: Double?
  /// Whether the last packet was held because too many bytes are in flight.
  private var isHeldBack = false

  package init(configuration: Configuration = .init()) {
    self.configuration = configuration
    credit = configuration.burst
    rate = configuration.minimumRate
  }

  package var isEmpty: Bool { audio.isEmpty && retransmissions.isEmpty && video.isEmpty }

  package var hasVideo: Bool { !video.isEmpty }

  /// How long the last queued packet has to wait at the present rate.
  package var delay: Duration { delay(of: queuedBytes) }

  /// Returns the bitrate of the media that was queued in the last second.
  package mutating func mediaRate(now: MonotonicInstant) -> Double { meter.bitrate(now: now) }

  /// How long until the path has carried everything that is queued; without a known limit, until it has left.
  package var backlog: Duration { linkCapacity == nil ? delay : time(for: queuedBytes) }

  /// Whether the path is known not to carry everything.
  package var hasKnownLimit: Bool { linkCapacity != nil }

  /// Returns how long the path needs for a number of bytes, or zero without a known limit.
  package func time(for bytes: Int) -> Duration {
    linkCapacity.map { .nanoseconds(Int64(Double(bytes) * 8 / $0 * 1e9)) } ?? .zero
  }

  /// Paces by the path's bandwidth from now on.
  ///
  /// - Parameters:
  ///   - pacingRate: the pacing rate in bits a second; nil while nothing is known about the path: then the media's own
  ///     rate determines it.
  ///   - limit: the known limit of the path.
  ///   - probe: the rate of the current probe.
  package mutating func pace(by pacingRate: Double?, limit: Double?, probe: Double?, now: MonotonicInstant) {
    linkCapacity = limit
    guard pacingRate != self.pacingRate || probe != probeRate else { return }
    if !isEmpty || probeRate != nil { update(now: now) }
    self.pacingRate = pacingRate
    probeRate = probe
    updateRate(now: now)
    // If the path has become slower, most of those that wait have become useless.
    while retransmissionDelay > Self.maximumRetransmissionDelay, let oldest = retransmissions.popFirst() {
      let size = oldest.packet.byteCount
      queuedBytes -= size
      repeatedBytes -= size
    }
  }

  /// How long a retransmission has to wait at the present rate.
  package var retransmissionDelay: Duration { delay(of: repeatedBytes) }

  private func delay(of bytes: Int) -> Duration { .nanoseconds(Int64(Double(bytes) * 8 / rate * 1e9)) }

  /// Queues a packet; a retransmission is dropped when very many are queued already, because it will be requested again.
  package mutating func add(_ entry: Entry, now: MonotonicInstant) {
    let size = entry.packet.byteCount
    if isEmpty { update(now: now) }
    switch entry.priority {
    case .audio: audio.append(entry)
    case .video: video.append(entry)
    case .retransmission:
      guard retransmissions.count < Self.maximumRetransmissions,
        retransmissionDelay < Self.maximumRetransmissionDelay
      else { return }
      retransmissions.append(entry)
      repeatedBytes += size
    }
    queuedBytes += size
    // Retransmissions do not count for the media's rate, and must not raise it.
    if entry.priority != .retransmission { meter.add(bytes: size, now: now) }
    if pacingRate == nil { updateRate(now: now) }
  }

  private mutating func updateRate(now: MonotonicInstant) {
    if let pacingRate {
      rate = max(pacingRate, probeRate ?? 0)
      return
    }
    let own = meter.bitrate(now: now)
    let ceiling = max(configuration.maximumRate, own * 1.5)
    let drain = Double(queuedBytes) * 8 / configuration.drainTime.seconds
    rate = min(max(configuration.minimumRate, own * configuration.headroom, drain), ceiling)
  }

  /// Removes and returns the next packet that may leave now.
  ///
  /// - Parameter allowance: the bytes that may be in flight in addition to those that are; audio is so little that it
  ///   ignores this.
  package mutating func next(allowance: Int? = nil, now: MonotonicInstant) -> Entry? {
    guard !isEmpty else { return nil }
    update(now: now)
    let entry: Entry?
    isHeldBack = false
    if let first = audio.popFirst() {
      entry = first
    } else if credit > 0 {
      isHeldBack = allowance.map { $0 <= 0 } ?? false
      entry = isHeldBack ? nil : retransmissions.popFirst() ?? video.popFirst()
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

  /// Returns whether the current probe needs packets and none is queued.
  package mutating func wantsFiller(now: MonotonicInstant) -> Bool {
    guard probeRate != nil, isEmpty else { return false }
    update(now: now)
    return credit > 0
  }

  /// Notes that a packet left that was never queued.
  package mutating func fillerLeft(size: Int) { credit -= Double(size) }

  /// When the next packet may leave; nil when none is queued.
  package var deadline: MonotonicInstant? {
    guard !isEmpty || probeRate != nil, let lastUpdate else { return nil }
    // More may leave after the next feedback; without feedback, after a while.
    if isHeldBack && audio.isEmpty { return lastUpdate + Self.holdTime }
    if !audio.isEmpty || credit > 0 { return lastUpdate }
    // At least a millisecond's worth: a wakeup costs more than a packet.
    let wait = max(0.001, (1 - credit) * 8 / rate)
    return lastUpdate + .nanoseconds(Int64(wait * 1e9))
  }

  /// Removes the queued packets of one media section.
  package mutating func removeAll(media: Int) {
    audio = audio.filter(of: media)
    retransmissions = retransmissions.filter(of: media)
    video = video.filter(of: media)
    repeatedBytes = retransmissions.byteCount
    queuedBytes = audio.byteCount + repeatedBytes + video.byteCount
  }

  /// Returns whether the first packet of a section's keyframe is queued.
  package func hasKeyframe(media: Int) -> Bool { video.contains { $0.media == media && $0.start == .keyframe } }

  /// Removes a section's frames of which no packet has left, and its retransmissions.
  ///
  /// - Returns: How many frames were removed.
  package mutating func removeStale(media: Int) -> Int {
    retransmissions = retransmissions.filter(of: media)
    repeatedBytes = retransmissions.byteCount
    var kept = CircularBuffer<Entry>()
    var removed = 0
    for entry in video {
      if entry.media == media, entry.start != nil { removed += 1 }
      if entry.media != media || removed == 0 { kept.append(entry) }
    }
    video = kept
    queuedBytes = audio.byteCount + repeatedBytes + video.byteCount
    return removed
  }

  private mutating func update(now: MonotonicInstant) {
    if let lastUpdate, now > lastUpdate {
      let burst = pacingRate == nil ? configuration.burst : min(configuration.burst, max(1, rate / 8 * Self.burstTime))
      credit = min(burst, credit + (now - lastUpdate).seconds * rate / 8)
    }
    lastUpdate = max(lastUpdate ?? now, now)
  }
}

extension CircularBuffer<Pacer.Entry> {
  fileprivate var byteCount: Int { reduce(0) { $0 + $1.packet.byteCount } }

  /// Returns the queue without the packets of one section.
  fileprivate func filter(of media: Int) -> Self {
    Self(self.lazy.filter { $0.media != media })
  }
}
