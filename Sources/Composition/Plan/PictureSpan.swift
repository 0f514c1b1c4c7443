/// A part of a tile's time in which one thing is shown. Times are in units of `MediaTimebase.rate` from the composition's zero.
package struct PictureSpan: Sendable, Hashable {
  package var start: Int64
  /// Not included.
  package var end: Int64
  package var state: PictureState

  package init(start: Int64, end: Int64, state: PictureState) {
    (self.start, self.end, self.state) = (start, end, state)
  }
}

/// What a recording says about a tile.
package enum PictureState: Sendable, Hashable {
  /// There is no tile: the user is not there, or the stream is not.
  case absent
  /// There are frames. The newest one that is not later than the output frame is shown.
  case frames
  /// There is no picture to show.
  case nameTile(NameTileReason)
  /// No frames arrive, and the last one stays. `since` is the end of the frames, which is earlier than the start of the span where
  /// one hold follows another.
  case held(since: Int64, HoldReason)
}

/// Why the name of a user is shown in place of a picture.
package enum NameTileReason: String, Sendable, Hashable, Codable, CaseIterable {
  /// The recording has no video.
  case noVideo
  /// The first frame of the video has not arrived yet.
  case notYet
  /// The user said that no video is sent.
  case muted
  /// The user sent no video for more than ``HoldReason/patience``.
  case senderPaused
  /// The recording was paused, for example because the user did not consent. No frame of before may stay.
  case recordingPaused
}

/// Why the last frame of a tile stays.
package enum HoldReason: String, Sendable, Hashable, Codable, CaseIterable {
  /// The user sent nothing.
  case senderPaused
  /// The connection was interrupted.
  case reconnect
  /// Packets were lost.
  case lost
  case waitingForKeyframe
  /// The recorder's processor had no time.
  case overloaded
  /// The recorder's disk failed or was slow.
  case diskStalled
  /// The recorder's memory was full.
  case memoryFull

  /// After which time of standstill the tile changes its look, in units of `MediaTimebase.rate`.
  package var patience: Int64 { self == .reconnect ? 720_000 : 1_440_000 }
}

/// What is seen in a tile.
package enum PictureLook: Sendable, Hashable {
  /// Nothing: the tile is not there.
  case hidden
  /// The newest frame as it is.
  case frame
  /// The newest frame at half brightness with a small sign.
  case dimmed
  /// The newest frame at half brightness with the word "reconnecting".
  case reconnecting
  /// Initials on a colour.
  case nameTile
}

extension PictureSpan {
  /// Returns what is seen at a time within the span.
  package func look(at time: Int64) -> PictureLook {
    switch state {
    case .absent: .hidden
    case .frames: .frame
    case .nameTile: .nameTile
    case .held(let since, let reason):
      if time - since < reason.patience {
        .frame
      } else {
        switch reason {
        case .senderPaused: .nameTile
        case .reconnect: .reconnecting
        case .lost, .waitingForKeyframe, .overloaded, .diskStalled, .memoryFull: .dimmed
        }
      }
    }
  }
}

extension [PictureSpan] {
  /// Returns what is seen at a time; nothing before the first and after the last span.
  package func look(at time: Int64) -> PictureLook {
    // The last span that does not begin later.
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if self[middle].start <= time { low = middle + 1 } else { high = middle }
    }
    guard low > startIndex, time < self[low - 1].end else { return .hidden }
    return self[low - 1].look(at: time)
  }
}
