/// From which output frame on tiles are at which places.
package struct LayoutChange: Sendable, Hashable {
  package var frame: Int64
  /// Those first that are covered by others.
  package var placements: [TilePlacement]
}

/// When the places of tiles change: when somebody comes or goes, and, where the layout asks for it, when another speaks.
///
/// It is a sequence of changes in order of their frames, the first of frame 0. Changes are computed one by one, so that a long call
/// needs no memory for them.
package struct LayoutSchedule: Sendable, Sequence {
  package let layout: Layout
  private let events: [LayoutEvent]

  /// - Parameters:
  ///   - speech: who speaks when. Where there is no room for all, those who spoke last are shown.
  ///   - speakers: who the speaker is, in order of time. A change is shown from the last frame that is not later than it.
  ///   - rate: the rate of the output.
  package init(_ layout: Layout, speech: [SpeechSpan], speakers: [SpeakerChange], rate: FrameRate) {
    self.layout = layout
    var events: [LayoutEvent] = []
    for (tile, frames) in layout.tiles.map({ Self.frames(of: $0, rate: rate) }).enumerated() {
      for range in frames {
        events.append(LayoutEvent(frame: range.lowerBound, .appears(tile)))
        events.append(LayoutEvent(frame: range.upperBound, .vanishes(tile)))
      }
    }
    if layout.dependsOnSpeech {
      for span in speech where span.start < span.end {
        let range = (rate.lastFrame(at: span.start), rate.firstFrame(at: span.end))
        if range.0 < range.1 { events.append(LayoutEvent(frame: range.0, .speechBegins(user: span.user))) }
        events.append(LayoutEvent(frame: range.1, .speechEnds(user: span.user, time: span.end)))
      }
      for change in speakers {
        events.append(LayoutEvent(frame: rate.lastFrame(at: change.time), .speaker(user: change.user)))
      }
    }
    // Sorting is not stable by contract; of equal ones the order must stay.
    self.events = events.enumerated().sorted { one, other in
      (one.element.frame, one.element.order, one.offset) < (other.element.frame, other.element.order, other.offset)
    }.map(\.element)
  }

  /// The frames in which a tile is there, in order, without overlaps.
  private static func frames(of tile: LayoutTile, rate: FrameRate) -> [Range<Int64>] {
    var ranges: [Range<Int64>] = []
    for span in tile.presence.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      let (start, end) = (rate.firstFrame(at: span.lowerBound), rate.firstFrame(at: span.upperBound))
      guard start < end else { continue }
      if let last = ranges.last, start <= last.upperBound {
        ranges[ranges.count - 1] = last.lowerBound..<Swift.max(last.upperBound, end)
      } else {
        ranges.append(start..<end)
      }
    }
    return ranges
  }

  package func makeIterator() -> Iterator { Iterator(layout: layout, events: events) }

  package struct Iterator: IteratorProtocol, Sendable {
    private let layout: Layout
    private let events: [LayoutEvent]
    private var index = 0
    private var state: LayoutState
    private var last: [TilePlacement]?

    fileprivate init(layout: Layout, events: [LayoutEvent]) {
      self.layout = layout
      self.events = events
      state = LayoutState(layout)
    }

    /// Returns the next change; nil after the last one.
    package mutating func next() -> LayoutChange? {
      while last == nil || index < events.count {
        let frame = last == nil ? 0 : events[index].frame
        var isConcerned = last == nil
        while index < events.count, events[index].frame <= frame {
          if state.apply(events[index]) { isConcerned = true }
          index += 1
        }
        guard isConcerned else { continue }
        let placements = layout.placements(at: state.moment)
        if placements == last { continue }
        last = placements
        return LayoutChange(frame: frame, placements: placements)
      }
      return nil
    }
  }
}

/// Follows a schedule frame by frame.
package struct LayoutCursor: Sendable {
  private var changes: LayoutSchedule.Iterator
  private var following: LayoutChange?
  private var current: [TilePlacement] = []

  package init(_ schedule: LayoutSchedule) {
    changes = schedule.makeIterator()
    following = changes.next()
  }

  /// Returns the placements of a frame, those first that are covered by others.
  ///
  /// - Parameter frame: not less than that of the call before.
  package mutating func placements(at frame: Int64) -> [TilePlacement] {
    while let change = following, change.frame <= frame {
      current = change.placements
      following = changes.next()
    }
    return current
  }
}
