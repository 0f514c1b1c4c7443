enum JobProcessPlaceholder {}
