import Media

extension ReceiveTrack {
  /// How long to wait for packets, and how often to request them. The defaults suit a recorder: no viewer waits for the
  /// frame, so waiting three seconds for a lost packet is worthwhile.
  package struct Configuration: Sendable, Hashable {
    /// How long to wait for a missing video packet when the sender answers NACKs: one that is given up costs all frames up
    /// to the next keyframe, and a call's network path can lose up to a third of requests and answers.
    package var packetTimeout: Duration = .seconds(3)
    /// How long to wait for a missing audio packet when the sender answers NACKs. One that is given up costs 20 ms, which
    /// its successor's in-band FEC or concealment repairs; meanwhile all later audio waits in memory, where a killed
    /// process loses it. A second is enough for about ten requests on a usual path, and limits that loss to one second.
    package var audioPacketTimeout: Duration = .seconds(1)
    /// The maximum to which the waiting time grows on a path whose round-trip time leaves time for fewer than three
    /// requests.
    package var maximumPacketTimeout: Duration = .seconds(3)
    /// How long to wait for a missing packet that cannot be requested: 15 packets of audio in the wrong order.
    package var reorderTimeout: Duration = .milliseconds(400)
    /// How long a packet may be late before it is requested.
    package var reorderingDelay: Duration = .milliseconds(20)
    /// The minimum time between two keyframe requests.
    package var keyframeInterval: Duration = .milliseconds(500)
    /// The age of a gap at which a keyframe is requested in addition to the packet: about ten requests on a usual path.
    package var keyframeDelay: Duration = .milliseconds(600)
    /// The age of the gap in front at which it is reported that the next frame is late. Shorter waits are not noticed.
    package var recoveryDelay: Duration = .milliseconds(100)
    /// How long to wait for a source that has stopped before another source of the track replaces it.
    package var sourceTimeout: Duration = .seconds(1)
    /// The time between two statistics events.
    package var statisticsInterval: Duration = .seconds(1)
    /// How long the first packets are buffered, in case earlier ones are still in flight: as long as for any gap.
    package var startDelay: Duration = .milliseconds(400)
    /// The maximum payload bytes that wait behind gaps in one track. Three seconds of 20 Mb/s: only a malicious peer needs
    /// more.
    package var waitingBytes = 8 << 20

    package init() {}

    func nack(_ kind: MediaKind, supportsNack: Bool) -> NackGenerator.Configuration {
      var configuration = NackGenerator.Configuration()
      configuration.reorderingDelay = reorderingDelay
      let timeout = kind == .video ? packetTimeout : audioPacketTimeout
      configuration.packetTimeout = supportsNack ? timeout : reorderTimeout
      configuration.maximumPacketTimeout = maximumPacketTimeout
      configuration.supportsNack = supportsNack
      return configuration
    }

    /// Returns how many sequence numbers can wait behind a gap: 3 s of 12 Mb/s video, 10 s of audio.
    func reorderingCapacity(_ kind: MediaKind) -> Int {
      kind == .video ? 4_096 : 512
    }
  }
}
