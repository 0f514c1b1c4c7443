package import Media
import NIOCore
import RTP

/// What is sent.
extension MediaSession {
  /// Sends a frame of ours.
  ///
  /// Frames given before the transport is ready are only remembered, from the last keyframe on.
  ///
  /// - Parameter frame: its time is the media time since the source's start, both tracks on one clock.
  package mutating func send(_ frame: EncodedFrame, now: ContinuousClock.Instant) {
    guard !isClosed else { return }
    begin(now: now)
    guard let place = sending.firstIndex(where: { $0.media.codec == frame.codec }) else {
      // Negotiation is not done, but a viewer is to start with the picture that is there when it is.
      if frame.codec == .vp8 {
        var group = primedGroup ?? GroupOfPicturesCache()
        group.add(frame)
        primedGroup = group
      }
      return
    }
    guard isReady, sending[place].media.sends, var clock = sendClock else { return sending[place].skip(frame) }
    sending[place].send(frame, clock: &clock, pacer: &pacer, now: now)
    sendClock = clock
  }

  /// Gives the frames since the last keyframe that were sent to others before this peer came, so that it need not wait
  /// for the next keyframe. Of use until the first frame is sent.
  package mutating func prime(_ group: GroupOfPicturesCache, now: ContinuousClock.Instant) {
    guard !isClosed else { return }
    begin(now: now)
    if sending.contains(where: { $0.media.codec == .vp8 }) {
      for place in sending.indices { sending[place].prime(group) }
      startVideo(now: now)
    } else if primedGroup?.isEmpty ?? true {
      primedGroup = group
    }
  }

  mutating func configureSending(_ media: [NegotiatedMedia], now: ContinuousClock.Instant) {
    for place in sending.indices.reversed() {
      let track = sending[place].media
      let stays = media.contains {
        $0.index == track.index && $0.codec == track.codec && $0.localSSRC == track.localSSRC
      }
      if !stays {
        pacer.removeAll(media: track.index)
        sending.remove(at: place)
      }
    }
    for section in media {
      if let place = sending.firstIndex(where: { $0.media.index == section.index }) {
        sending[place].reconfigure(section)
      } else if section.sends {
        var track = SendTrack(media: section, configuration: configuration.sending, using: &generator)
        if section.codec == .vp8, let group = primedGroup {
          track.prime(group)
          primedGroup = nil
        }
        sending.append(track)
      }
    }
    sending.sort { $0.media.index < $1.media.index }
  }

  /// Starts each video track that can be started with the group of pictures that is known.
  mutating func startVideo(now: ContinuousClock.Instant) {
    guard isReady, var clock = sendClock else { return }
    for place in sending.indices where sending[place].media.sends && sending[place].media.codec == .vp8 {
      sending[place].start(clock: &clock, pacer: &pacer, now: now)
    }
    sendClock = clock
  }

  mutating func keyframeRequested(of ssrc: UInt32, now: ContinuousClock.Instant) {
    guard isReady, let place = sendingIndex(owning: ssrc) else { return }
    if sending[place].keyframeRequested(pacer: &pacer, now: now) { keyframeWasRequested = true }
  }

  func sendingIndex(owning ssrc: UInt32) -> Int? {
    sending.firstIndex { $0.owns(ssrc) }
  }

  private func sendingIndex(ofSection index: Int) -> Int? {
    for place in sending.indices where sending[place].media.index == index { return place }
    return nil
  }

  /// Gives the packets that may leave now.
  mutating func releasePackets(now: ContinuousClock.Instant, outputs: inout [Output]) {
    guard let clock, !pacer.isEmpty else { return }
    let time = clock.time(at: now)
    while let entry = pacer.next(now: now) {
      guard let place = sendingIndex(ofSection: entry.media) else { continue }
      let packet = sending[place].leave(entry, sequence: &transportSequence, time: time, now: now)
      if !sending[place].hasReported { nextReport = now }
      var datagram = ByteBuffer()
      packet.write(into: &datagram)
      outputs.append(.rtp(datagram))
    }
  }
}
