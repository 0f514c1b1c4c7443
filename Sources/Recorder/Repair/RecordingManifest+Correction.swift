import Media

extension RecordingManifest {
  /// Updates a track's entry to what its files contain, since the manifest may have been written earlier.
  ///
  /// - Parameter codec: the codec in the files; nil if they do not have the track.
  mutating func correct(_ kind: MediaKind, to written: WrittenFrameCounts, codec: Codec?) {
    if let index = tracks.firstIndex(where: { $0.kind == kind.rawValue }) {
      tracks[index].correct(to: written)
      // After a crash, the manifest does not count these frames as dropped yet.
      if endReason == nil, let gap = tracks[index].unwrittenGap { count(tracks[index].gaps[gap], of: kind) }
    } else if written.frames > 0, let codec {
      var track = Track(codec: codec)
      track.start = written.start.roundedSeconds
      track.duration = (written.end - written.start).roundedSeconds
      track.frames = written.frames
      track.codecs = [.init(time: track.start, codec: codec.rawValue)]
      if kind == .video { track.keyframes = written.keyframes }
      tracks.append(track)
    }
  }

  private mutating func count(_ gap: Gap, of kind: MediaKind) {
    let dropped = UInt64(clamping: gap.frames)
    switch (MediaGap.Reason(rawValue: gap.reason), kind) {
    case (.overloaded, _): overload = adding(dropped, of: kind, to: overload)
    case (.memoryFull, _): memory = adding(dropped, of: kind, to: memory)
    case (_, .video): disk = disk ?? DiskStalls(); disk?.framesDropped &+= dropped
    case (_, .audio): disk = disk ?? DiskStalls(); disk?.packetsDropped &+= dropped
    }
  }

  private func adding(_ count: UInt64, of kind: MediaKind, to frames: DroppedFrames?) -> DroppedFrames {
    var frames = frames ?? DroppedFrames()
    frames.add(count, of: kind)
    return frames
  }
}

extension RecordingManifest.Track {
  /// A shorter difference at the end is no gap, because the duration of a last frame is a guess.
  private static let minimumGap = 0.1

  fileprivate mutating func correct(to written: WrittenFrameCounts) {
    if written.frames == frames, keyframes == nil || keyframes == written.keyframes { return }
    let known = unwrittenGap.map { gaps.remove(at: $0) }
    if let known { forget(known) }
    let claimed = (frames: frames &+ UInt64(clamping: known?.frames ?? 0), end: max(end, known?.end ?? end))
    let writtenEnd =
      switch written.frames {
      case 0: start
      // The start of a file that was created after the manifest was written is unknown.
      case frames...: max(end, written.end.roundedSeconds)
      default: min(end, written.end.roundedSeconds)
      }
    frames = written.frames
    if keyframes != nil { keyframes = written.keyframes }
    duration = ((writtenEnd - start) * 1_000).rounded() / 1_000
    let rest = ((claimed.end - writtenEnd) * 1_000).rounded() / 1_000
    guard claimed.frames > frames, rest > Self.minimumGap else { return }
    add(
      RecordingManifest.Gap(
        reason: known?.reason ?? MediaGap.Reason.diskStalled.rawValue, start: writtenEnd, duration: rest,
        packets: known?.packets ?? 0, frames: Int(clamping: claimed.frames - frames)))
    sizes?.removeAll { $0.time >= writtenEnd }
    codecs?.removeAll { $0.time >= writtenEnd }
    orientations?.removeAll { $0.time >= writtenEnd }
  }

  private mutating func forget(_ gap: RecordingManifest.Gap) {
    guard var total = gapTotals[gap.reason], total.count > 1 else {
      gapTotals[gap.reason] = nil
      return
    }
    total.count -= 1
    total.duration = ((total.duration - gap.duration) * 1_000).rounded() / 1_000
    total.packets -= min(total.packets, UInt64(clamping: gap.packets))
    total.frames -= min(total.frames, UInt64(clamping: gap.frames))
    gapTotals[gap.reason] = total
  }

  private mutating func add(_ gap: RecordingManifest.Gap) {
    gaps.append(gap)
    var total = gapTotals[gap.reason] ?? .init(count: 0, duration: 0, packets: 0, frames: 0)
    total.count &+= 1
    total.duration = ((total.duration + gap.duration) * 1_000).rounded() / 1_000
    total.packets &+= UInt64(clamping: gap.packets)
    total.frames &+= UInt64(clamping: gap.frames)
    gapTotals[gap.reason] = total
  }
}

extension RecordingManifest.Gap {
  fileprivate var end: Double { start + duration }
}
