import Media

extension ReceiveTrack {
  /// How long to wait for what, and how often to ask. The defaults are a recorder's: nobody waits for the frame, so a
  /// lost packet is worth three seconds of patience.
  package struct Configuration: Sendable, Hashable {
    /// How long a missing packet of video is waited for when the sender answers NACKs: one that is abandoned costs all
    /// frames up to the next keyframe, and the ways of a call lose up to a third of the questions and answers.
    package var patience: Duration = .seconds(3)
    /// The same for audio. A packet that is abandoned costs 20 ms, which its successor's in-band FEC or concealment
    /// repairs; meanwhile all audio behind it waits in memory, where a killed process loses it. A second is time for
    /// about ten questions on a usual line, and keeps what can be lost to that second.
    package var patienceForAudio: Duration = .seconds(1)
    /// What patience may grow to on a line whose round trip leaves room for less than three questions.
    package var maximumPatience: Duration = .seconds(3)
    /// How long a missing packet is waited for when nobody can be asked: 15 packets of audio in the wrong order.
    package var patienceWithoutNack: Duration = .milliseconds(400)
    /// How long a packet may be late before it is requested.
    package var reorderingDelay: Duration = .milliseconds(20)
    /// The least time between two requests for a keyframe.
    package var keyframeInterval: Duration = .milliseconds(500)
    /// How old a hole becomes before a keyframe is requested besides the packet: about ten questions on a usual line.
    package var keyframeDelay: Duration = .milliseconds(600)
    /// How old the hole in front becomes before it is told that the next frame comes late. A shorter wait disturbs nobody.
    package var recoveryDelay: Duration = .milliseconds(100)
    /// How long a source that has stopped is waited for before another one of the track takes its place.
    package var sourceTimeout: Duration = .seconds(1)
    /// The time between two statistics events.
    package var statisticsInterval: Duration = .seconds(1)
    /// How long the first packets are held, in case one before them is still on its way: as long as any hole.
    package var startDelay: Duration = .milliseconds(400)
    /// Bytes of payload that may wait behind holes in one track. Three seconds of 20 Mb/s: only a peer that means ill
    /// needs more.
    package var waitingBytes = 8 << 20

    package init() {}

    func nack(_ kind: MediaKind, asks: Bool) -> NackGenerator.Configuration {
      var configuration = NackGenerator.Configuration()
      configuration.reorderingDelay = reorderingDelay
      configuration.patience = asks ? (kind == .video ? patience : patienceForAudio) : patienceWithoutNack
      configuration.maximumPatience = maximumPatience
      configuration.asks = asks
      return configuration
    }

    /// How many sequence numbers can wait behind a hole: 3 s of 12 Mb/s video, 10 s of audio.
    func reorderingCapacity(_ kind: MediaKind) -> Int {
      kind == .video ? 4_096 : 512
    }
  }
}
