internal import CProcesses

/// The environment variables that this process was started with.
package enum InheritedVariables {
  /// Overwrites the values of variables with zeros, where they stand in memory: nothing that this process reads or starts later has
  /// them, nor has `/proc/PID/environ`.
  ///
  /// - Parameter prefix: of their names.
  package static func overwrite(beginningWith prefix: String) { cprocesses_overwrite_variables(prefix) }
}
