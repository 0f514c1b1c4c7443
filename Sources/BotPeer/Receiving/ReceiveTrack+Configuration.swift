import Media

extension ReceiveTrack {
  /// How long to wait for what, and how often to ask. The defaults are a recorder's: nobody waits for the picture, so a
  /// lost packet is worth two seconds of patience.
  package struct Configuration: Sendable, Hashable {
    /// How long a missing packet is waited for when the sender answers NACKs.
    package var patience: Duration = .seconds(2)
    /// What patience may grow to on a line whose round trip leaves room for less than three questions.
    package var longestPatience: Duration = .seconds(3)
    /// How long a missing packet is waited for when nobody can be asked: 15 packets of audio in the wrong order.
    package var patienceWithoutNack: Duration = .milliseconds(400)
    /// How long a packet may be late before it is asked for.
    package var reorderingDelay: Duration = .milliseconds(20)
    /// The least time between two requests for a keyframe.
    package var keyframeInterval: Duration = .milliseconds(500)
    /// How old a hole becomes before a keyframe is asked for besides the packet: about ten questions on a usual line.
    package var keyframeDelay: Duration = .milliseconds(600)
    /// How long a source that has stopped is waited for before another one of the track takes its place.
    package var sourceTimeout: Duration = .seconds(1)
    /// The time between two statistics events.
    package var statisticsInterval: Duration = .seconds(1)

    package init() {}

    func nack(asks: Bool) -> NackGenerator.Configuration {
      var configuration = NackGenerator.Configuration()
      configuration.reorderingDelay = reorderingDelay
      configuration.patience = asks ? patience : patienceWithoutNack
      configuration.longestPatience = longestPatience
      configuration.asks = asks
      return configuration
    }

    /// How long the first packets are held, in case one before them is still on its way.
    func startDelay(_ kind: MediaKind) -> Duration {
      kind == .video ? .milliseconds(300) : .milliseconds(100)
    }

    /// How many sequence numbers can wait behind a hole: over 3 s of 5 Mb/s video, 10 s of audio.
    func reorderingCapacity(_ kind: MediaKind) -> Int {
      kind == .video ? 2_048 : 512
    }
  }
}
