import NIOCore
package import RTP

/// Spreads packets over time, so that a keyframe does not fill the queues on its way: sound at once, then what was lost
/// and is sent again, then pictures.
package struct Pacer: Sendable {
  package enum Priority: Sendable, Hashable {
    case sound
    case retransmission
    case picture
  }

  /// A packet that waits to leave.
  package struct Entry: Sendable {
    package var packet: RTPPacket
    package var priority: Priority
    /// The place among the m-lines of the section that it belongs to.
    package var media: Int

    package init(packet: RTPPacket, priority: Priority, media: Int) {
      self.packet = packet
      self.priority = priority
      self.media = media
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

  package let configuration: Configuration

  private var sound = CircularBuffer<Entry>()
  private var retransmissions = CircularBuffer<Entry>()
  private var pictures = CircularBuffer<Entry>()
  private var queuedBytes = 0
  /// Those of retransmissions among them.
  private var repeatedBytes = 0
  private var meter = RateMeter(shortestWindow: .seconds(1))
  private var credit: Double
  private var lastUpdate: ContinuousClock.Instant?
  private var rate: Double

  package init(configuration: Configuration = .init()) {
    self.configuration = configuration
    credit = configuration.burst
    rate = configuration.minimumRate
  }

  package var isEmpty: Bool { sound.isEmpty && retransmissions.isEmpty && pictures.isEmpty }

  /// How long the last packet has to wait at the present rate.
  package var delay: Duration { delay(of: queuedBytes) }

  /// How long a packet that is sent again has to wait at the present rate.
  package var retransmissionDelay: Duration { delay(of: repeatedBytes) }

  private func delay(of bytes: Int) -> Duration { .nanoseconds(Int64(Double(bytes) * 8 / rate * 1e9)) }

  /// Queues a packet; a retransmission is thrown away when very many wait already, for it will be asked for again.
  package mutating func add(_ entry: Entry, now: ContinuousClock.Instant) {
    let size = entry.packet.byteCount
    if isEmpty { update(now: now) }
    switch entry.priority {
    case .sound: sound.append(entry)
    case .picture: pictures.append(entry)
    case .retransmission:
      guard retransmissions.count < Self.maximumRetransmissions else { return }
      retransmissions.append(entry)
      repeatedBytes += size
    }
    queuedBytes += size
    // What is sent again says nothing of the media's rate, and must not raise it.
    if entry.priority != .retransmission { meter.add(bytes: size, now: now) }
    let own = meter.bitrate(now: now)
    let ceiling = max(configuration.maximumRate, own * 1.5)
    let drain = Double(queuedBytes) * 8 / (configuration.drainTime / .seconds(1))
    rate = min(max(configuration.minimumRate, own * configuration.headroom, drain), ceiling)
  }

  /// The next packet that may leave now.
  package mutating func next(now: ContinuousClock.Instant) -> Entry? {
    guard !isEmpty else { return nil }
    update(now: now)
    let entry: Entry?
    if let first = sound.popFirst() {
      entry = first
    } else if credit > 0 {
      entry = retransmissions.popFirst() ?? pictures.popFirst()
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

  /// When the next packet may leave; nil when none waits.
  package var deadline: ContinuousClock.Instant? {
    guard !isEmpty, let lastUpdate else { return nil }
    if !sound.isEmpty || credit > 0 { return lastUpdate }
    // A millisecond's worth at least: waking up costs more than a packet.
    let wait = max(0.001, (1 - credit) * 8 / rate)
    return lastUpdate + .nanoseconds(Int64(wait * 1e9))
  }

  /// Throws away what waits of one media section.
  package mutating func removeAll(media: Int) {
    sound = sound.filter(of: media)
    retransmissions = retransmissions.filter(of: media)
    pictures = pictures.filter(of: media)
    repeatedBytes = retransmissions.byteCount
    queuedBytes = sound.byteCount + repeatedBytes + pictures.byteCount
  }

  private mutating func update(now: ContinuousClock.Instant) {
    if let lastUpdate, now > lastUpdate {
      credit = min(configuration.burst, credit + (now - lastUpdate) / .seconds(1) * rate / 8)
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
