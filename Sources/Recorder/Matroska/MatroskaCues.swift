/// The table with which a player finds the keyframes, or in a file without video the clusters (RFC 9559, 5.1.5).
///
/// If there are more than ``limit`` keyframes, every second one is removed, repeatedly: a sender determines how many
/// there are, and the whole table is kept in memory until the file ends.
package struct MatroskaCues: Sendable {
  package struct CuePoint: Sendable, Hashable {
    /// In milliseconds.
    package let time: Int64
    /// The start of the cluster, in bytes from the segment's start.
    package let cluster: Int64

    /// - Parameters:
    ///   - time: in milliseconds.
    ///   - cluster: the start of the cluster, in bytes from the segment's start.
    package init(time: Int64, cluster: Int64) {
      self.time = time
      self.cluster = cluster
    }
  }

  /// The maximum number of points.
  package static let limit = 50_000

  package private(set) var points: [CuePoint] = []
  /// The minimum time between two points, in milliseconds.
  private var interval: Int64 = 0

  /// The number of the track of which the points are.
  private let track: UInt8

  /// - Parameter track: the number of the track of which the points are.
  package init(of track: UInt8 = MatroskaHeader.videoNumber) {
    self.track = track
  }

  /// Adds the next keyframe, unless it is too close to the previous point.
  package mutating func add(_ point: CuePoint) {
    if let last = points.last, point.time >= last.time, point.time - last.time < interval { return }
    points.append(point)
    guard points.count > Self.limit else { return }
    points = stride(from: 0, to: points.count, by: 2).map { points[$0] }
    let span = (points.last?.time ?? 0) - (points.first?.time ?? 0)
    interval = max(interval, span / Int64(points.count))
  }

  /// Removes the points after a time.
  mutating func remove(after time: Int64) {
    points.removeAll { $0.time > time }
  }

  /// Removes all points.
  mutating func removeAll() { points = [] }

  /// The maximum size of the element in bytes, with one more point.
  var longestElement: Int64 { Int64(points.count + 1) * Self.maximumPoint + 12 }

  /// The maximum size of a cue point in bytes: ids, sizes, and values of at most 8 bytes.
  private static let maximumPoint: Int64 = 32

  /// Removes the points of clusters from an offset on, in bytes from the segment's start.
  mutating func remove(from offset: Int64) {
    points.removeAll { $0.cluster >= offset }
  }

  /// The element; empty without points.
  var element: EBMLBuilder {
    var element = EBMLBuilder()
    if points.isEmpty { return element }
    element.master(.cues) { all in
      for point in points {
        all.master(.cuePoint) { entry in
          entry.unsigned(.cueTime, UInt64(max(0, point.time)))
          entry.master(.cueTrackPositions) { position in
            position.unsigned(.cueTrack, UInt64(track))
            position.unsigned(.cueClusterPosition, UInt64(max(0, point.cluster)))
          }
        }
      }
    }
    return element
  }
}
